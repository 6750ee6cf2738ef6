package framework_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// A caller whose context has ended uses the memory of its data again, such as a
// buffer of a pool. The client may still look at the request then, when the
// connection ends with it. The race detector sees whether it looks there.
func TestDataOfAWriteIsItsCallersAgain(t *testing.T) {
	for name, write := range map[string]func(ctx context.Context, c *framework.Client, data []byte) error{
		"create": func(ctx context.Context, c *framework.Client, data []byte) error {
			_, err := c.Create(ctx, "/n/c", data)
			return err
		},
		"set": func(ctx context.Context, c *framework.Client, data []byte) error {
			_, err := c.Set(ctx, "/n", data, framework.AnyVersion)
			return err
		},
		"transaction": func(ctx context.Context, c *framework.Client, data []byte) error {
			_, err := c.Transaction(ctx, framework.SetOp("/n", data, 0), framework.CreateOp("/n/c", data))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				require.NoError(t, srv.Create("/n", nil))
				srv.Inject(zktest.Rule{Op: zktest.OpAny, Do: zktest.DelayRequest(time.Hour)})
				data := make([]byte, 100<<10) // the client asks what a long request was about
				require.ErrorIs(t, write(within(t, time.Second), c, data), framework.ErrOutcomeUnknown)
				srv.CutAll()
				for i := range data {
					data[i] = 'x'
				}
				synctest.Wait()
			})
		})
	}
}

// What an option or an operation was made of is its maker's again at once: a
// buffer is used for the next operation, and a password is cleared.
func TestOptionsAndOperationsCopyTheirArguments(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		secret := []byte("alice:secret")
		hers := framework.WithAuth("digest", secret)
		clear(secret)
		c := newClient(t, srv, hers)
		mustCreate(t, c, "/hers", "", framework.WithACL(zk.AuthACL(zk.PermAll)))

		acl := zk.WorldACL(providersMark)
		own, parents := framework.WithACL(acl), framework.WithParentACL(acl)
		acl[0].Perms = zk.PermRead
		mustCreate(t, c, "/a/b", "", framework.WithParents(), own, parents)
		require.Equal(t, []int32{providersMark, providersMark}, []int32{permsOf(srv, "/a"), permsOf(srv, "/a/b")})

		mustCreate(t, c, "/set", "")
		buffer := []byte("1")
		create := framework.CreateOp("/created", buffer)
		buffer[0] = '2'
		set := framework.SetOp("/set", buffer, 0)
		buffer[0] = '3'
		_, err := c.Transaction(t.Context(), create, set)
		require.NoError(t, err)
		for path, want := range map[string]string{"/created": "1", "/set": "2"} {
			node, _ := srv.Node(path)
			require.Equal(t, want, string(node.Data), path)
		}
	})
}
