package framework_test

import (
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
