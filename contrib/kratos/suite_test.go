package kratos_test

import (
	"context"
	"testing"

	"github.com/go-kratos/kratos/v2/registry"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"

	zookeeper "github.com/gocurator/curator/contrib/kratos"
)

// The cases of the tests of kratos's own registry on ZooKeeper, and whether they
// want an error.
func TestAsTheirTestsHaveIt(t *testing.T) {
	hello := &registry.ServiceInstance{ID: "1", Name: "hello", Version: "v1.0.0", Endpoints: []string{"127.0.0.1:8080"}}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for name, theirCase := range map[string]func(t *testing.T, w *world, p *process, ctx context.Context){
		"get: normal": func(t *testing.T, _ *world, p *process, ctx context.Context) {
			require.NoError(t, p.Register(ctx, hello))
			list, err := p.GetService(ctx, "hello")
			require.NoError(t, err)
			require.Equal(t, []*registry.ServiceInstance{hello}, list)
		},
		"get: can't get any": func(t *testing.T, _ *world, p *process, ctx context.Context) {
			list, err := p.GetService(ctx, "helloxxx")
			require.Error(t, err)
			require.Nil(t, list)
		},
		"get: conn close": func(t *testing.T, _ *world, p *process, ctx context.Context) {
			require.NoError(t, p.client.Close())
			list, err := p.GetService(ctx, "hello")
			require.Error(t, err)
			require.Nil(t, list)
		},
		"get: after deregister": func(t *testing.T, _ *world, p *process, ctx context.Context) {
			require.NoError(t, p.Register(ctx, hello))
			require.NoError(t, p.Register(ctx, hello))
			require.NoError(t, p.Deregister(ctx, hello))
			list, err := p.GetService(ctx, "hello")
			require.NoError(t, err)
			require.Empty(t, list)
		},
		"register: invalid path": func(t *testing.T, _ *world, p *process, ctx context.Context) {
			require.Error(t, zookeeper.New(p.client, zookeeper.WithRootPath("invalid")).Register(ctx, hello))
		},
		"register: auth": func(t *testing.T, w *world, _ *process, ctx context.Context) {
			client, _ := w.Connect(t, framework.WithAuth("digest", []byte("test:test")),
				framework.WithACLProvider(func(string) []zk.ACL { return zk.DigestACL(zk.PermAll, "test", "test") }))
			require.NoError(t, zookeeper.New(client, zookeeper.WithRootPath("/tt1")).Register(ctx, hello))
			for _, path := range []string{"/tt1", "/tt1/hello", "/tt1/hello/1"} {
				acl, _, err := client.GetACL(ctx, path)
				require.NoError(t, err)
				require.Equal(t, "digest", acl[0].Scheme)
			}
		},
		"deregister: normal": func(t *testing.T, _ *world, p *process, ctx context.Context) {
			require.NoError(t, p.Register(ctx, hello))
			require.NoError(t, p.Deregister(ctx, hello))
		},
		"deregister: with ctx cancel": func(t *testing.T, _ *world, p *process, _ context.Context) {
			require.Error(t, p.Deregister(ended, hello))
		},
		"watch: normal": func(t *testing.T, _ *world, p *process, ctx context.Context) {
			watcher, err := p.Watch(ctx, "hello")
			require.NoError(t, err)
			require.Empty(t, next(t, watcher))
			require.NoError(t, p.Register(ctx, hello))
			list, err := watcher.Next()
			require.NoError(t, err)
			require.Equal(t, []*registry.ServiceInstance{hello}, list)
			require.NoError(t, watcher.Stop())
		},
		"watch: ctx cancel": func(t *testing.T, _ *world, p *process, ctx context.Context) {
			ctx, cancel := context.WithCancel(ctx)
			watcher, err := p.Watch(ctx, "hello")
			require.NoError(t, err)
			require.Empty(t, next(t, watcher))
			cancel()
			list, err := watcher.Next()
			require.ErrorIs(t, err, context.Canceled)
			require.Nil(t, list)
		},
		"watch: disconnect": func(t *testing.T, _ *world, p *process, ctx context.Context) {
			watcher, err := p.Watch(ctx, "hello")
			require.NoError(t, err)
			require.Empty(t, next(t, watcher))
			require.NoError(t, p.client.Close())
			list, err := watcher.Next()
			require.Error(t, err)
			require.Nil(t, list)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) { theirCase(t, w, w.process(t), w.Patience(t)) })
		})
	}
}
