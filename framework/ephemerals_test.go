package framework_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/testing/zktest"
)

// longName makes paths long, so that few nodes do for many.
var longName = strings.Repeat("x", 4000)

// createEphemerals makes ephemeral nodes whose paths are so many bytes
// together.
func createEphemerals(t *testing.T, c *framework.Client, size int) {
	t.Helper()
	for i := range size / len(longName) {
		mustCreate(t, c, fmt.Sprintf("/%s%d", longName, i), "", framework.WithMode(framework.Ephemeral))
	}
}

// ending is the size of what one transaction has to delete at the end of a
// session.
func ending(srv *zktest.Server) *int {
	size := new(int)
	srv.Inject(zktest.Rule{Op: zktest.OpCloseSession, Times: -1, Do: zktest.Call(func(zktest.Request) {
		for _, n := range srv.Tree() {
			*size += len(n.Path)
		}
	})})
	return size
}

// More than about two megabytes of paths in one transaction stop an ensemble.
func TestCloseDeletesNodesThatAreTooManyForOneTransaction(t *testing.T) {
	t.Parallel()
	troubles := map[string]func(*zktest.Server){
		"undisturbed":           func(*zktest.Server) {},
		"the connection is cut": func(srv *zktest.Server) { srv.CutAll() },
		"a delete's answer is lost": func(srv *zktest.Server) {
			srv.Inject(zktest.Rule{Op: zktest.OpDelete, After: 100, Do: zktest.DropReply()})
		},
		"each delete takes its time": func(srv *zktest.Server) {
			srv.Inject(zktest.Rule{Op: zktest.OpDelete, Times: -1, Do: zktest.DelayRequest(10 * time.Millisecond)})
		},
		"others have deleted some": func(srv *zktest.Server) { srv.Delete("/" + longName + "1"); srv.Delete("/" + longName + "2") },
		"a delete is never answered": func(srv *zktest.Server) {
			srv.Inject(zktest.Rule{Op: zktest.OpDelete, After: 100, Do: zktest.Blackhole()})
		},
		"the server is away meanwhile": func(srv *zktest.Server) { srv.Stop(); time.AfterFunc(3*time.Second, func() { _ = srv.Restart() }) },
	}
	for _, name := range thorough.Some(2, slices.Sorted(maps.Keys(troubles))...) {
		trouble := troubles[name]
		serverOnly(t, func(t *testing.T, srv *zktest.Server) {
			c := unclosed(t, srv)
			createEphemerals(t, c, 3<<20)
			size := ending(srv)
			trouble(srv)
			require.Less(t, closing(t, c), sessionTimeout, name)
			synctest.Wait()
			require.LessOrEqual(t, *size, 1<<20, name)
			require.Positive(t, *size, name)
			require.Empty(t, srv.Sessions(), name)
			srv.AssertNoNodes(t, "/")
		})
	}
}

// Without progress there is no use in going on.
func TestCloseWithTooManyNodesIsBounded(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := unclosed(t, srv)
		createEphemerals(t, c, 3<<20)
		srv.Stop()
		require.LessOrEqual(t, closing(t, c), sessionTimeout)
	})
}

func TestCloseDeletesNodesThatOnlyTheirOwnerMayDelete(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := unclosed(t, srv, alice)
		mustCreate(t, c, "/p", "", ownersOK)
		for i := range 3 << 20 / len(longName) {
			mustCreate(t, c, fmt.Sprintf("/p/%s%d", longName, i), "", framework.WithMode(framework.Ephemeral), ownersOK)
		}
		size := ending(srv)
		require.Less(t, closing(t, c), sessionTimeout)
		require.LessOrEqual(t, *size, 1<<20)
	})
}

// A node that is gone does not count, whoever has deleted it: a program whose
// tasks others take away has none left, however long its session lives.
func TestEphemeralNodesThatOthersDeleteAreNotCounted(t *testing.T) {
	for name, remove := range map[string]func(t *testing.T, srv *zktest.Server, c *framework.Client, parent string){
		"with children": func(t *testing.T, _ *zktest.Server, c *framework.Client, parent string) {
			require.NoError(t, c.Delete(t.Context(), parent, framework.AnyVersion, framework.WithChildren()))
		},
		"by others": func(t *testing.T, srv *zktest.Server, _ *framework.Client, parent string) {
			require.NoError(t, srv.Delete(parent))
		},
		"by others, and made by others": func(t *testing.T, srv *zktest.Server, _ *framework.Client, parent string) {
			nodes := srv.Children(parent)
			require.NoError(t, srv.Delete(parent))
			require.NoError(t, srv.Create(parent, nil))
			for _, name := range nodes {
				require.NoError(t, srv.Create(parent+"/"+name, nil))
			}
		},
	} {
		serverOnly(t, func(t *testing.T, srv *zktest.Server) {
			j := &journal{}
			c := unclosed(t, srv, j.option())
			for round := range 6 { // of 300 KB each
				parent := fmt.Sprintf("/%d", round)
				mustCreate(t, c, parent, "")
				for i := range 75 {
					mustCreate(t, c, fmt.Sprintf("%s/%s%d", parent, longName, i), "", framework.WithMode(framework.Ephemeral))
				}
				remove(t, srv, c, parent)
			}
			synctest.Wait()
			require.Empty(t, j.warnings(), name)
			srv.ClearRequests()
			require.Zero(t, closing(t, c), name)
			require.Zero(t, srv.CountRequests(zktest.OpDelete), name)
		})
	}
}

// The client looks seldom at very many nodes. When it is closed, it looks once
// more: to delete nodes that others have deleted long ago would take its time.
func TestCloseDeletesNoNodesThatAreGone(t *testing.T) {
	for name, left := range map[string]int{"all are gone": 0, "some are left": 100} {
		serverOnly(t, func(t *testing.T, srv *zktest.Server) {
			j := &journal{}
			c := unclosed(t, srv, j.option())
			createEphemerals(t, c, 3<<19)
			synctest.Wait()
			require.Len(t, j.warnings(), 1, name)
			for i := left; i < 3<<19/len(longName); i++ {
				require.NoError(t, srv.Delete(fmt.Sprintf("/%s%d", longName, i)))
			}
			srv.ClearRequests()
			require.Zero(t, closing(t, c), name)
			require.Zero(t, srv.CountRequests(zktest.OpDelete), name)
			synctest.Wait()
			require.Empty(t, srv.Sessions(), name)
			srv.AssertNoNodes(t, "/")
		})
	}
}

// Without a connection, the client looks on the one on which it ends the session.
func TestCloseDeletesNoneOfTooManyNodesThatOthersHaveMadeAnew(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := unclosed(t, srv)
		createEphemerals(t, c, 3<<19)
		synctest.Wait() // the client looks which nodes are there while it has too many
		nodes := srv.Children("/")
		for _, name := range nodes {
			if name != "zookeeper" {
				require.NoError(t, srv.Delete("/"+name))
				require.NoError(t, srv.Create("/"+name, nil))
			}
		}
		srv.CutAll()
		synctest.Wait()
		require.Less(t, closing(t, c), time.Second)
		synctest.Wait()
		require.Empty(t, srv.Sessions())
		require.Equal(t, nodes, srv.Children("/"))
	})
}

// Servers before version 3.6 do not list them.
func TestCloseDeletesTooManyNodesOnAnOldServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t, zktest.WithVersion(zktest.Version3510))
		c := unclosed(t, srv)
		createEphemerals(t, c, 3<<19)
		size := ending(srv)
		require.Less(t, closing(t, c), 2*time.Second)
		synctest.Wait()
		require.LessOrEqual(t, *size, 1<<20)
		require.Positive(t, *size)
		srv.AssertNoNodes(t, "/")
	})
}

// A node is counted once, whatever way it has come and gone.
func TestWarningOfTooManyEphemeralNodes(t *testing.T) {
	t.Parallel()
	ephemeral := framework.WithMode(framework.Ephemeral)
	ways := map[string]func(t *testing.T, srv *zktest.Server, c *framework.Client, path string){
		"created": func(t *testing.T, _ *zktest.Server, c *framework.Client, path string) {
			mustCreate(t, c, path, "", ephemeral)
		},
		"transaction": func(t *testing.T, _ *zktest.Server, c *framework.Client, path string) {
			transact(t, c, framework.CreateOp(path, nil, ephemeral))
		},
		"found after a lost reply": func(t *testing.T, srv *zktest.Server, c *framework.Client, path string) {
			srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DropReply()})
			mustCreate(t, c, path, "", ephemeral, framework.WithProtection())
		},
		"sequential": func(t *testing.T, _ *zktest.Server, c *framework.Client, path string) {
			mustCreate(t, c, path, "", framework.WithMode(framework.EphemeralSequential), framework.WithProtection())
		},
		"late": func(t *testing.T, srv *zktest.Server, c *framework.Client, path string) {
			srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DelayReply(time.Second)})
			_, err := c.Create(within(t, time.Millisecond), path, nil, ephemeral)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			time.Sleep(2 * time.Second)
		},
		"transaction, late": func(t *testing.T, srv *zktest.Server, c *framework.Client, path string) {
			srv.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.DelayReply(time.Second)})
			_, err := c.Transaction(within(t, time.Millisecond), framework.CreateOp(path, nil, ephemeral))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			time.Sleep(2 * time.Second)
		},
	}
	for _, name := range thorough.Some(thorough.Size(2, 1), slices.Sorted(maps.Keys(ways))...) {
		create := ways[name]
		serverOnly(t, func(t *testing.T, srv *zktest.Server) {
			j := &journal{}
			c := newClient(t, srv, j.option())
			warnings := func() (n int) {
				time.Sleep(20 * time.Second) // the client looks which of them are there
				for _, line := range j.warnings() {
					if strings.Contains(line, "very many ephemeral nodes") {
						n++
					}
				}
				return n
			}
			const few = 200 // of 4 KB each
			for i := range few {
				create(t, srv, c, fmt.Sprintf("/%s%d", longName, i))
			}
			require.Zero(t, warnings(), name)
			nodes := srv.Tree()
			for i := 1; i < len(nodes); i++ { // one remains
				path := nodes[i].Path
				switch i % 3 {
				case 0:
					require.NoError(t, c.Delete(t.Context(), path, framework.AnyVersion))
				case 1:
					framework.Extend(c).DeleteInBackground(path)
				case 2:
					transact(t, c, framework.DeleteOp(path, framework.AnyVersion))
				}
			}
			time.Sleep(time.Second)
			for i := few; i < 2*few; i++ {
				create(t, srv, c, fmt.Sprintf("/%s%d", longName, i))
			}
			require.Zero(t, warnings(), "%s: it is about those that exist", name)
			for i := 2 * few; i < 3*few; i++ {
				create(t, srv, c, fmt.Sprintf("/%s%d", longName, i))
			}
			require.Equal(t, 1, warnings(), "%s: at 1 MiB", name)
			for i := 3 * few; i < 5*few; i++ {
				create(t, srv, c, fmt.Sprintf("/%s%d", longName, i))
			}
			require.Equal(t, 2, warnings(), "%s: and at twice that", name)
		})
	}
}

func transact(t *testing.T, c *framework.Client, ops ...framework.TxnOp) {
	t.Helper()
	_, err := c.Transaction(t.Context(), ops...)
	require.NoError(t, err)
}
