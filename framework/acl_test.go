package framework_test

import (
	"context"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// provider notes the paths that it is asked for, and gives each list a mark by
// which it is recognised.
type provider struct {
	mu    sync.Mutex
	asked []string
}

const providersMark = zk.PermAll &^ zk.PermAdmin

func (p *provider) acl(path string) []zk.ACL {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, path)
	return zk.WorldACL(providersMark)
}

func permsOf(srv *zktest.Server, path string) int32 {
	node, _ := srv.Node(path)
	if len(node.ACL) != 1 {
		return -1
	}
	return node.ACL[0].Perms
}

func TestACLProviderIsAskedForEveryNodeByItsFullPath(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		p := &provider{}
		c, err := framework.New(srv.Addr()+"/app", framework.WithDialer(srv.Dialer()), framework.WithACLProvider(p.acl))
		require.NoError(t, err)
		defer c.Close()
		n := mustCreate(t, c, "/a/b-", "", framework.WithParents(), framework.WithProtection(), framework.WithMode(framework.PersistentSequential))
		guid := n.Path[len("/a/"):len("/a/_c_00000000-0000-0000-0000-000000000000-")]
		require.Equal(t, []string{"/app/a/" + guid + "b-", "/app", "/app/a", "/app/a/" + guid + "b-"}, p.asked)
		for _, path := range []string{"/app", "/app/a", "/app" + n.Path} {
			require.Equal(t, int32(providersMark), permsOf(srv, path), path)
		}
		p.asked = nil
		_, err = c.Transaction(t.Context(), framework.CreateOp("/t", nil), framework.CreateOp("/u", nil, framework.WithACL(zk.WorldACL(zk.PermRead))))
		require.NoError(t, err)
		require.Equal(t, []string{"/app/t"}, p.asked)
		require.Equal(t, int32(providersMark), permsOf(srv, "/app/t"))
		require.Equal(t, int32(zk.PermRead), permsOf(srv, "/app/u"))
	})
}

func TestWithACLAndWithParentACLGoBeforeTheProvider(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		p := &provider{}
		c := newClient(t, srv, framework.WithACLProvider(p.acl))
		for i, parents := range []framework.CreateOption{framework.WithParents(), framework.WithPersistentParents()} {
			root := []string{"/x", "/y"}[i]
			mustCreate(t, c, root+"/a/n", "", parents,
				framework.WithACL(zk.WorldACL(zk.PermRead)), framework.WithParentACL(zk.WorldACL(zk.PermRead|zk.PermCreate)))
			require.Equal(t, int32(zk.PermRead|zk.PermCreate), permsOf(srv, root))
			require.Equal(t, int32(zk.PermRead|zk.PermCreate), permsOf(srv, root+"/a"))
			require.Equal(t, int32(zk.PermRead), permsOf(srv, root+"/a/n"))
		}
		require.Empty(t, p.asked)
	})
}

// Promise: A node for which the ACL provider returns no list is not created open to everyone.
func TestACLProviderThatHasNothingToSayOpensNothing(t *testing.T) {
	for _, none := range [][]zk.ACL{nil, {}} {
		serverOnly(t, func(t *testing.T, srv *zktest.Server) {
			c := newClient(t, srv, framework.WithACLProvider(func(path string) []zk.ACL {
				if path == "/open" {
					return zk.WorldACL(zk.PermAll)
				}
				return none
			}))
			mustCreate(t, c, "/open", "")
			_, err := c.Create(t.Context(), "/n", nil)
			require.ErrorIs(t, err, zk.ErrInvalidACL)
			require.ErrorContains(t, err, "the provider has none for /n")
			require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
			_, err = c.Create(t.Context(), "/parent/open", nil, framework.WithParents(), framework.WithACL(zk.WorldACL(zk.PermAll)))
			require.ErrorIs(t, err, zk.ErrInvalidACL)
			require.ErrorContains(t, err, "/parent")
			_, err = c.Transaction(t.Context(), framework.CheckOp("/open", 0), framework.CreateOp("/n", nil))
			require.ErrorIs(t, err, zk.ErrInvalidACL)
			var failed *framework.TxnError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, 1, failed.Index)
			require.Equal(t, []string{"open", "zookeeper"}, srv.Children("/"))
		})
	}
}

func TestPersistentParentsStay(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		for root, opt := range map[string]framework.CreateOption{"/container": framework.WithParents(), "/persistent": framework.WithPersistentParents()} {
			mustCreate(t, c, root+"/n", "", opt)
			require.NoError(t, c.Delete(t.Context(), root+"/n", framework.AnyVersion))
		}
		zkinside.Of(srv).ReapContainers()
		require.Equal(t, []string{"persistent", "zookeeper"}, srv.Children("/"))
	})
}

func TestChrootIsMadeWhenItIsFirstNeeded(t *testing.T) {
	create := func(opts ...framework.CreateOption) func(context.Context, *framework.Client) error {
		return func(ctx context.Context, c *framework.Client) error {
			_, err := c.Create(ctx, "/new", nil, opts...)
			return err
		}
	}
	for name, call := range map[string]func(context.Context, *framework.Client) error{
		"create":    create(),
		"protected": create(protectedSeq()...),
		"root": func(ctx context.Context, c *framework.Client) error {
			_, err := c.Create(ctx, "/", nil, framework.WithIdempotence())
			return err
		},
		"transaction": func(ctx context.Context, c *framework.Client) error {
			_, err := c.Transaction(ctx, framework.CreateOp("/new", nil))
			return err
		},
	} {
		for _, lost := range []bool{false, true} {
			serverOnly(t, func(t *testing.T, srv *zktest.Server) {
				c, err := framework.New(srv.Addr()+"/one/two", framework.WithDialer(srv.Dialer()))
				require.NoError(t, err)
				defer c.Close()
				if lost {
					srv.Inject(zktest.Rule{Path: "/one", Times: 3, Do: zktest.DropReply()})
					srv.Inject(zktest.Rule{Path: "/one/two", Times: 1, Do: zktest.DropReply()})
				}
				require.NoError(t, call(t.Context(), c), "%s, lost %v", name, lost)
				_, ok := srv.Node("/one/two")
				require.True(t, ok)
			})
		}
	}
}

func TestChrootIsNotMadeByWhatDoesNotCreateInIt(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, err := framework.New(srv.Addr()+"/one", framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		_, err = c.Create(t.Context(), "/a/b", nil)
		require.ErrorIs(t, err, zk.ErrNoNode)
		_, err = c.Transaction(t.Context(), framework.CreateOp("/a/b", nil))
		require.ErrorIs(t, err, zk.ErrNoNode)
		_, err = c.Set(t.Context(), "/a", nil, 0)
		require.ErrorIs(t, err, zk.ErrNoNode)
		require.Empty(t, srv.Tree())
	})
}

// The repeated request may lack the right that the first one has taken away.
func TestSetACLThatCannotBeRepeatedIsOfUnknownOutcome(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		srv.Inject(zktest.Rule{Op: zkinside.OpSetACL, Do: zktest.DropReply()})
		stat, err := c.SetACL(t.Context(), "/n", zk.WorldACL(zk.PermRead), framework.AnyVersion)
		require.ErrorIs(t, err, zk.ErrNoAuth)
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		require.Nil(t, stat)
	})
}
