package framework_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

var protectedSequential = []framework.CreateOption{
	framework.WithProtection(), framework.WithMode(framework.EphemeralSequential),
}

// createMany makes protected nodes below a parent, all at once, and returns the
// errors.
func createMany(ctx context.Context, c *framework.Client, parent string, n int) []error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { _, errs[i] = c.Create(ctx, parent+"/n-", nil, protectedSequential...) })
	}
	all.Wait()
	return errs
}

// The answers of many creates are lost when nobody waits for them any more.
func TestDoubtfulNodesOfAParentAreCleanedUpTogether(t *testing.T) {
	const n = 500
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/p", "")
		mustCreate(t, c, "/p/other", "")
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DelayReply(time.Second)})
		time.AfterFunc(500*time.Millisecond, srv.CutAll)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		for _, err := range createMany(ctx, c, "/p", n) {
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
		require.Len(t, srv.Children("/p"), n+1)
		time.Sleep(10 * time.Second)
		require.Equal(t, []string{"other"}, srv.Children("/p"))
		require.Equal(t, n, srv.CountRequests(zktest.OpDelete))
		require.LessOrEqual(t, srv.CountRequests(zkinside.OpGetChildren2), 3)
		require.LessOrEqual(t, srv.CountRequests(zktest.OpMulti), 3)
	})
}

// Clean-ups wait in a list for the end of an outage.
func TestCleanUpsInAnOutageCostLittleMemoryAndNoGoroutines(t *testing.T) {
	const n = 10000
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		var paths []string
		for i := range n {
			paths = append(paths, fmt.Sprintf("/n%05d", i))
			require.NoError(t, srv.Create(paths[i], nil))
		}
		srv.RefuseConnections(true)
		srv.CutAll()
		time.Sleep(time.Minute)
		before := inUse()
		goroutines := runtime.NumGoroutine()
		for _, path := range paths {
			framework.Extend(c).DeleteInBackground(path)
		}
		synctest.Wait()
		require.Less(t, runtime.NumGoroutine()-goroutines, 10)
		require.Less(t, inUse()-before, int64(n*1024))

		time.Sleep(time.Hour)
		srv.RefuseConnections(false)
		time.Sleep(10 * time.Second)
		require.Empty(t, srv.Tree())
		require.Equal(t, n, srv.CountRequests(zktest.OpDelete))
	})
}

func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// A server that fails at a clean-up is asked for some minutes, and no other
// clean-up waits for that.
func TestCleanUpThatAServerFailsAtIsGivenUpSomeTime(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		var log bytes.Buffer
		c := newClient(t, srv, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		require.NoError(t, c.WaitConnected(t.Context()))
		for _, path := range []string{"/bad", "/bad/child", "/good", "/later"} {
			mustCreate(t, c, path, "")
		}
		for _, path := range []string{"/bad", "/bad/child"} {
			srv.Inject(zktest.Rule{Op: zktest.OpDelete, Path: path, Times: -1, Do: zktest.Fail(-12345)})
		}
		framework.Extend(c).DeleteInBackground("/bad/child")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.Error(t, c.Delete(ctx, "/bad", framework.AnyVersion, framework.WithChildren(), framework.WithGuarantee()))
		framework.Extend(c).DeleteInBackground("/good")
		synctest.Wait()
		require.Equal(t, []string{"bad", "later", "zookeeper"}, srv.Children("/"))
		time.Sleep(30 * time.Second) // in the longest pauses between attempts
		framework.Extend(c).DeleteInBackground("/later")
		synctest.Wait()
		require.Equal(t, []string{"bad", "zookeeper"}, srv.Children("/"))

		time.Sleep(10 * time.Minute)
		asked := srv.CountRequests(zktest.OpDelete)
		require.LessOrEqual(t, asked, 2+2*20)
		require.Greater(t, asked, 2*20)
		time.Sleep(time.Hour)
		require.Equal(t, asked, srv.CountRequests(zktest.OpDelete))
		require.Equal(t, 2, strings.Count(log.String(), "clean-up failed"), "%s", &log)
		require.Equal(t, 1, strings.Count(log.String(), "/bad/child: "), "%s", &log)
	})
}

// A server ends the connection whenever it sees one of the requests. The others
// are carried out all the same.
func TestCleanUpThatAlwaysBreaksTheConnectionHoldsUpNoOther(t *testing.T) {
	const n = 300
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		for i := range n {
			require.NoError(t, srv.Create(fmt.Sprintf("/n%05d", i), nil))
		}
		srv.Inject(zktest.Rule{Op: zktest.OpDelete, Path: "/n00000", Times: -1, Do: zktest.DropRequest()})
		srv.RefuseConnections(true)
		srv.CutAll()
		time.Sleep(time.Second)
		for i := range n {
			framework.Extend(c).DeleteInBackground(fmt.Sprintf("/n%05d", i))
		}
		srv.RefuseConnections(false)
		time.Sleep(10 * time.Minute)
		require.Equal(t, []string{"n00000", "zookeeper"}, srv.Children("/"))
	})
}

// doubtfulNodes makes n protected nodes below /p, and has the connection end when no
// caller waits for the answers any more. Clients are refused from then on.
func doubtfulNodes(t *testing.T, srv *zktest.Server, c *framework.Client, n int) {
	t.Helper()
	mustCreate(t, c, "/p", "")
	srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DelayReply(time.Second)})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	for _, err := range createMany(ctx, c, "/p", n) {
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	require.Len(t, srv.Children("/p"), n)
	srv.RefuseConnections(true)
	srv.CutAll()
}

// A server does not let the client list the parent of nodes in doubt. It is asked
// once, and not for each of them.
func TestParentThatCannotBeListedIsSearchedOnce(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		doubtfulNodes(t, srv, c, 500)
		srv.Inject(zktest.Rule{Op: zkinside.OpGetChildren2, Path: "/p", Times: -1, Do: zktest.Fail(zktest.ErrNoAuth)})
		srv.RefuseConnections(false)
		time.Sleep(5 * time.Second)
		require.LessOrEqual(t, srv.CountRequests(zkinside.OpGetChildren2), 3)
	})
}

// A server ends the connection whenever it is asked for one of two clean-ups: a
// search, or a delete. The other one is carried out all the same.
func TestCleanUpsOfOneKindHoldUpNoneOfTheOther(t *testing.T) {
	for name, hangsUpOn := range map[string]zktest.Rule{
		"search": {Op: zkinside.OpGetChildren2, Path: "/p"},
		"delete": {Op: zktest.OpDelete, Path: "/q"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				mustCreate(t, c, "/q", "")
				doubtfulNodes(t, srv, c, 1)
				framework.Extend(c).DeleteInBackground("/q")
				hangsUpOn.Times, hangsUpOn.Do = -1, zktest.DropRequest()
				srv.Inject(hangsUpOn)
				srv.RefuseConnections(false)
				time.Sleep(10 * time.Minute)
				left := map[string]int{"search": 1, "delete": 0}[name]
				require.Len(t, srv.Children("/p"), left)
				_, exists := srv.Node("/q")
				require.Equal(t, left == 0, exists)
			})
		})
	}
}
