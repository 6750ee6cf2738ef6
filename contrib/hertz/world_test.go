package hertz_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"

	sd "github.com/cloudwego/hertz/pkg/app/client/discovery"
	"github.com/cloudwego/hertz/pkg/app/server/registry"
	"github.com/cloudwego/hertz/pkg/common/hlog"
	"github.com/cloudwego/hertz/pkg/common/utils"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/gocurator/curator/contrib/hertz"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// hertz never ends these.
func TestMain(m *testing.M) {
	hlog.SetOutput(io.Discard)
	goleak.VerifyTestMain(tests{m},
		goleak.IgnoreAnyFunction("github.com/cloudwego/hertz/pkg/app/client/loadbalance.(*BalancerFactory).refresh"),
		goleak.IgnoreAnyFunction("github.com/cloudwego/hertz/pkg/app/client/loadbalance.(*BalancerFactory).watcher"),
		goleak.IgnoreAnyFunction("github.com/cloudwego/hertz/pkg/app/client.(*Client).cleaner"),
		goleak.IgnoreAnyFunction("github.com/cloudwego/hertz/pkg/app/server.(*Hertz).Spin.func1"),
		goleak.IgnoreAnyFunction("github.com/cloudwego/hertz/pkg/protocol.UpdateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/cloudwego/hertz/pkg/protocol/http1.(*HostClient).connsCleaner"),
	)
}

// tests end the shared real servers when they have run.
type tests struct{ *testing.M }

func (m tests) Run() int {
	code := m.M.Run()
	if err := recipetest.CloseShared(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// process is a client on a separate host.
type process struct {
	host   *zktest.Host
	client *framework.Client
}

// start starts a process that has a connection.
func start(t *testing.T, srv *zktest.Server) process {
	t.Helper()
	host := srv.NewHost()
	return process{host, curatortest.Connect(t, srv, framework.WithDialer(host.Dialer()))}
}

// startCutOff starts a process that has no connection.
func startCutOff(t *testing.T, srv *zktest.Server) process {
	t.Helper()
	host := srv.NewHost()
	host.Disconnect()
	client, err := framework.New(srv.Addr(), framework.WithDialer(host.Dialer()))
	require.NoError(t, err)
	t.Cleanup(func() { client.Close() })
	return process{host, client}
}

func inVirtualTime(t *testing.T, scenario func(t *testing.T, srv *zktest.Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { scenario(t, zktest.Start(t)) })
}

// infoOf describes an instance of the service product, as hertz does.
func infoOf(address string) *registry.Info {
	return &registry.Info{ServiceName: "product", Addr: utils.NewNetAddr("tcp", address), Weight: 10}
}

// found is what hertz learns about an instance.
type found struct {
	address string
	weight  int
	group   string
}

// resolve returns what hertz learns about a service.
func resolve(t *testing.T, r sd.Resolver, name string) (all []found) {
	t.Helper()
	ctx := context.Background()
	key := r.Target(ctx, &sd.TargetInfo{Host: name})
	result, err := r.Resolve(ctx, key)
	require.NoError(t, err)
	require.Equal(t, key, result.CacheKey)
	for _, i := range result.Instances {
		require.Equal(t, "tcp", i.Address().Network())
		group, _ := i.Tag("group")
		all = append(all, found{i.Address().String(), i.Weight(), group})
	}
	return all
}

// passGrace lets the removal grace of a directory pass.
func passGrace() {
	time.Sleep(2 * time.Second)
	synctest.Wait()
}

// settle lets a request be answered that nobody waits for.
func settle() {
	time.Sleep(100 * time.Millisecond)
	synctest.Wait()
}

// nodeOf returns what is in a node.
func nodeOf(t *testing.T, srv *zktest.Server, path string) string {
	t.Helper()
	node, there := srv.Node(path)
	require.True(t, there, "%s of %v", path, srv.Tree())
	return string(node.Data)
}

// localIP is this machine's address in tests.
const localIP = "192.0.2.7"

func newRegistry(client *framework.Client) *hertz.Registry {
	return hertz.NewRegistry(client).WithLocalIP(localIP)
}

// receive returns what a channel has, or nothing if it is closed, in real time.
func receive[T any](t *testing.T, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(time.Minute):
		require.FailNow(t, "nothing comes")
	}
	return v
}
