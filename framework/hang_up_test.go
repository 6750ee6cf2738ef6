package framework_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// hangsUp makes a server end the connection whenever it gets such a request.
func hangsUp(srv *zktest.Server, op zktest.Op, path string) *zktest.Injection {
	return srv.Inject(zktest.Rule{Optional: true, Op: op, Path: path, Times: -1, Do: zktest.DropRequest()})
}

// hangUpClient returns a connected client, and the lines of its log about requests on
// which servers hang up.
func hangUpClient(t *testing.T, srv *zktest.Server, opts ...framework.Option) (c *framework.Client, lines func() []string) {
	t.Helper()
	j := &journal{}
	c = newClient(t, srv, append(opts, j.option())...)
	require.NoError(t, c.WaitConnected(t.Context()))
	return c, func() (all []string) {
		synctest.Wait()
		for _, line := range j.warnings() {
			if strings.Contains(line, "connections end whenever") {
				all = append(all, line)
			}
		}
		return all
	}
}

// suspensions counts how often the connection was interrupted.
func suspensions(h *history) (n int) {
	for _, s := range h.seen() {
		if s == state.Suspended {
			n++
		}
	}
	return n
}

// readsOn reads "/" until ctx ends, and returns how often that has succeeded.
func readsOn(ctx context.Context, c *framework.Client) func() int {
	var reader sync.WaitGroup
	reads := 0
	reader.Go(func() {
		for ctx.Err() == nil {
			if _, _, err := c.Get(ctx, "/"); err == nil {
				reads++
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	return func() int { reader.Wait(); return reads }
}

// A server hangs up on a request, which a program makes again and again for a
// minute. A long one fails with an error that names it. The others never do, and
// interrupt the rest of the client more and more seldom.
func TestRequestOnWhichServersHangUp(t *testing.T) {
	long, short := make([]byte, 100_000), make([]byte, 10)
	protected := []framework.CreateOption{framework.WithProtection(), framework.WithMode(framework.EphemeralSequential)}
	for name, tc := range map[string]struct {
		op      zktest.Op
		call    func(ctx context.Context, c *framework.Client) error
		others  bool // other requests are answered in between
		fails   bool
		logged  string
		unknown bool
	}{
		"long set": {zktest.OpSetData, func(ctx context.Context, c *framework.Client) error {
			_, err := c.Set(ctx, "/poison", long, framework.AnyVersion)
			return err
		}, true, true, "curator.operation=set curator.znode.path=/poison curator.request.size=100027", true},
		"long create": {zktest.OpCreate, func(ctx context.Context, c *framework.Client) error {
			_, err := c.Create(ctx, "/new", long)
			return err
		}, true, true, "curator.operation=create curator.znode.path=/new curator.request.size=1000", true},
		"long transaction": {zktest.OpMulti, func(ctx context.Context, c *framework.Client) error {
			_, err := c.Transaction(ctx, framework.CreateOp("/new", long))
			return err
		}, true, true, "curator.operation=transaction curator.znode.path=/new curator.request.size=1000", true},
		"long protected create": {zktest.OpCreate, func(ctx context.Context, c *framework.Client) error {
			_, err := c.Create(ctx, "/new-", long, protected...)
			return err
		}, true, false, "curator.operation=create curator.znode.path=/new- curator.request.size=1000", false},
		"long set, and nothing else is answered": {zktest.OpSetData, func(ctx context.Context, c *framework.Client) error {
			_, err := c.Set(ctx, "/poison", long, framework.AnyVersion)
			return err
		}, false, false, "curator.operation=set curator.znode.path=/poison curator.request.size=100027", true},
		"short set": {zktest.OpSetData, func(ctx context.Context, c *framework.Client) error {
			_, err := c.Set(ctx, "/poison", short, framework.AnyVersion)
			return err
		}, true, false, "curator.operation=set curator.znode.path=/poison curator.request.size=37", true},
		"get": {zktest.OpGetData, func(ctx context.Context, c *framework.Client) error {
			_, _, err := c.Get(ctx, "/poison")
			return err
		}, true, false, "curator.operation=get curator.znode.path=/poison curator.request.size=20", false},
		"release": {zktest.OpDelete, func(ctx context.Context, c *framework.Client) error {
			return c.Delete(ctx, "/poison", framework.AnyVersion)
		}, true, false, "curator.operation=delete curator.znode.path=/poison curator.request.size=23", true},
	} {
		t.Run(name, func(t *testing.T) {
			serverOnly(t, func(t *testing.T, srv *zktest.Server) {
				c, lines := hangUpClient(t, srv)
				mustCreate(t, c, "/poison", "")
				path := "/poison"
				if tc.op == zktest.OpCreate || tc.op == zktest.OpMulti {
					path = "" // a protected node has another name each time
				}
				time.Sleep(time.Second) // the connection has held
				hits := hangsUp(srv, tc.op, path)
				h := observe(t, c)
				ctx := within(t, time.Minute)
				reads := func() int { return 0 }
				if tc.others {
					reads = readsOn(ctx, c)
				}
				var failed *framework.HangUpError
				for ctx.Err() == nil {
					err := tc.call(ctx, c)
					require.Error(t, err)
					if !errors.As(err, &failed) {
						continue
					}
					require.Equal(t, tc.unknown, errors.Is(err, framework.ErrOutcomeUnknown))
					require.False(t, framework.IsConnectionError(err))
					require.False(t, framework.IsRefusal(err))
					require.ErrorContains(t, err, "is jute.maxbuffer of the servers lower than that?")
					break
				}
				require.Equal(t, hits.Hits(), suspensions(h))
				require.Equal(t, tc.fails, failed != nil)
				if tc.fails {
					require.Greater(t, failed.Size, 100_000)
					require.Equal(t, 4, failed.Ends)
					require.Equal(t, 4, hits.Hits(), "one of them was sent before the connection had held")
					again := tc.call(ctx, c)
					require.ErrorIs(t, again, &framework.HangUpError{})
					require.Equal(t, 5, hits.Hits(), "it is known by now")
				}
				require.LessOrEqual(t, hits.Hits(), 15)
				require.Len(t, lines(), 1)
				require.Contains(t, lines()[0], tc.logged)
				<-ctx.Done()
				if tc.others {
					require.Greater(t, reads(), 1000, "of 1,200")
				}
			})
		})
	}
}

// Connections have ended with short requests in flight. A long request of the same
// operation and path was in flight at none of these ends, so it does not fail at once.
func TestLongRequestIsNotBlamedForShortOnes(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, _ := hangUpClient(t, srv)
		mustCreate(t, c, "/n", "")
		time.Sleep(time.Second) // the connection has held
		short := hangsUp(srv, zktest.OpSetData, "/n")
		ctx, cancel := context.WithCancel(t.Context())
		reads := readsOn(ctx, c)
		defer reads()
		defer cancel()
		for short.Hits() < 8 {
			_, err := c.Set(t.Context(), "/n", nil, framework.AnyVersion)
			require.Error(t, err)
		}
		short.Remove()
		long := srv.Inject(zktest.Rule{Op: zktest.OpSetData, Path: "/n", Times: 2, Do: zktest.DropRequest()})
		_, err := c.Set(t.Context(), "/n", make([]byte, 100_000), framework.AnyVersion)
		require.NoError(t, err)
		require.Equal(t, 2, long.Hits())
	})
}

// Logs and debug pages keep errors for long. The data of the requests is not kept
// with them.
func TestErrorsOfLostRequestsKeepNoData(t *testing.T) {
	const n, size = 32, 500_000
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv)
		mustCreate(t, c, "/n", "")
		hangsUp(srv, zktest.OpSetData, "/n")
		before := inUse()
		var errs []error
		for range n {
			_, err := c.Set(t.Context(), "/n", make([]byte, size), 0)
			require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
			errs = append(errs, err)
		}
		srv.ClearRequests()
		require.Less(t, inUse()-before, int64(n*size/4))
		runtime.KeepAlive(errs)
	})
}

// A network that breaks all the time is no matter of the requests.
func TestRequestIsNotHeldBackWhenTheNetworkWasBroken(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, lines := hangUpClient(t, srv)
		slow := srv.Inject(zktest.Rule{Op: zktest.OpGetData, Times: -1, Do: zktest.DelayReply(time.Second)})
		ctx := within(t, 10*time.Second)
		var network sync.WaitGroup
		network.Go(func() {
			for ctx.Err() == nil {
				time.Sleep(100 * time.Millisecond)
				srv.CutAll()
			}
		})
		_, _, err := c.Get(ctx, "/")
		require.Error(t, err)
		network.Wait()
		slow.Remove()
		begin := time.Now()
		_, _, err = c.Get(t.Context(), "/")
		require.NoError(t, err)
		require.LessOrEqual(t, time.Since(begin), 5*time.Second)
		require.Empty(t, lines())
	})
}

func TestWithoutContainersParentsArePersistent(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithoutContainers())
		mustCreate(t, c, "/a/b", "", framework.WithParents())
		require.Zero(t, srv.CountRequests(zkinside.OpCreateContainer))
	})
}
