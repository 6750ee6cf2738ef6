package framework_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// watchKinds are the ways to set a watch on a node.
func watchKinds(c *framework.Client) map[string]func(ctx context.Context, path string) (*framework.Watch, error) {
	return map[string]func(context.Context, string) (*framework.Watch, error){
		"data": func(ctx context.Context, p string) (*framework.Watch, error) {
			_, _, w, err := c.GetW(ctx, p)
			return w, err
		},
		"exists": func(ctx context.Context, p string) (*framework.Watch, error) {
			_, _, w, err := c.ExistsW(ctx, p)
			return w, err
		},
		"children": func(ctx context.Context, p string) (*framework.Watch, error) {
			_, _, w, err := c.ChildrenW(ctx, p)
			return w, err
		},
	}
}

func fired(w *framework.Watch) bool {
	synctest.Wait()
	select {
	case <-w.Done():
		return true
	default:
		return false
	}
}

func TestWatchFiresForEachKindOfChange(t *testing.T) {
	set := func(ctx context.Context, c *framework.Client) error { _, err := c.Set(ctx, "/n", nil, -1); return err }
	remove := func(ctx context.Context, c *framework.Client) error { return c.Delete(ctx, "/n", -1) }
	addChild := func(ctx context.Context, c *framework.Client) error { _, err := c.Create(ctx, "/n/c", nil); return err }
	for _, tc := range []struct {
		kind   string
		change func(context.Context, *framework.Client) error
		want   zk.EventType // 0: none
	}{
		{"data", set, zk.EventNodeDataChanged}, {"data", remove, zk.EventNodeDeleted}, {"data", addChild, 0},
		{"exists", set, zk.EventNodeDataChanged}, {"exists", remove, zk.EventNodeDeleted}, {"exists", addChild, 0},
		{"children", set, 0}, {"children", remove, zk.EventNodeDeleted}, {"children", addChild, zk.EventNodeChildrenChanged},
	} {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			mustCreate(t, c, "/n", "")
			w, err := watchKinds(c)[tc.kind](t.Context(), "/n")
			require.NoError(t, err)
			require.False(t, fired(w))
			require.NoError(t, tc.change(t.Context(), another(t, srv)))
			if tc.want == 0 {
				require.False(t, fired(w), "%s", tc.kind)
				return
			}
			ev, err := w.Wait(within(t, time.Second))
			require.NoError(t, err)
			require.Equal(t, tc.want, ev.Type, "%s", tc.kind)
			require.Equal(t, "/n", ev.Path)
		})
	}
}

func TestNoWatchIsLeftOnAMissingNodeByAReadThatFails(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		for _, kind := range []string{"data", "children"} {
			w, err := watchKinds(c)[kind](t.Context(), "/n")
			require.ErrorIs(t, err, zk.ErrNoNode)
			require.Nil(t, w)
		}
		require.Empty(t, srv.Watches())
	})
}

func TestStoppedWatchLeavesNothingOnTheServer(t *testing.T) {
	for kind := range watchKinds(nil) {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			mustCreate(t, c, "/n", "")
			for range 10 {
				w, err := watchKinds(c)[kind](t.Context(), "/n")
				require.NoError(t, err)
				w.Stop()
				w.Stop()
			}
			synctest.Wait()
			require.Empty(t, srv.Watches())
			// and the library does not set it again
			srv.ClearRequests()
			srv.CutAll()
			time.Sleep(10 * time.Second)
			require.Empty(t, srv.Watches())
			require.Zero(t, srv.CountRequests(zkinside.OpSetWatches))
		})
	}
}

// countingCtx counts what is registered with it and not taken back.
type countingCtx struct {
	context.Context
	done chan struct{}
	n    atomic.Int32
}

func (c *countingCtx) Done() <-chan struct{} { return c.done }
func (c *countingCtx) AfterFunc(f func()) func() bool {
	c.n.Add(1)
	var once sync.Once
	return func() bool { once.Do(func() { c.n.Add(-1) }); return true }
}

// A caller that waits in a loop, on a context that lives long, must not collect
// watches that have fired.
func TestFiredWatchesDoNotStayInTheirContext(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		ctx := &countingCtx{Context: t.Context(), done: make(chan struct{})}
		require.NoError(t, srv.Create("/n", nil))
		for i := range 100 {
			_, _, w, err := c.GetW(ctx, "/n")
			require.NoError(t, err)
			require.NoError(t, srv.Set("/n", []byte(fmt.Sprint(i))))
			_, err = w.Wait(ctx)
			require.NoError(t, err)
		}
		require.Zero(t, ctx.n.Load())
	})
}

func TestWithdrawnWatchMayBeSetAgainAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		for range 100 {
			w, err := watchKinds(c)["data"](t.Context(), "/n")
			require.NoError(t, err)
			w.Stop()
		}
		w, err := watchKinds(c)["data"](t.Context(), "/n")
		require.NoError(t, err)
		synctest.Wait()
		require.Len(t, srv.Watches(), 1)
		require.False(t, fired(w))
		srv.CutAll()
		time.Sleep(5 * time.Second)
		require.Len(t, srv.Watches(), 1)
		_, err = c.Set(t.Context(), "/n", nil, -1)
		require.NoError(t, err)
		require.True(t, fired(w))
	})
}

// The event of the old watch is under way while the new one is being set. It is
// not the new one's.
func TestEventOfAWithdrawnWatchIsNotTakenForTheNextOnes(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "old")
		other := another(t, srv)
		w, err := watchKinds(c)["data"](t.Context(), "/n")
		require.NoError(t, err)
		srv.Inject(zktest.Rule{Op: zkinside.OpRemoveWatches, Do: zktest.Call(func(zktest.Request) {
			_, err := other.Set(t.Context(), "/n", []byte("new"), -1)
			require.NoError(t, err)
		})})
		w.Stop()
		data, _, w, err := c.GetW(t.Context(), "/n")
		require.NoError(t, err)
		require.Equal(t, "new", string(data))
		require.False(t, fired(w), "nothing has changed since the data was read")
		require.Len(t, srv.Watches(), 1)
		w.Stop()
		synctest.Wait()
		require.Empty(t, srv.Watches())
	})
}

func TestWatchEndsWithItsSession(t *testing.T) {
	for name, end := range map[string]func(srv *zktest.Server, c *framework.Client){
		"expired": func(srv *zktest.Server, c *framework.Client) { srv.Session(c.SessionID()).Expire() },
		"replaced": func(srv *zktest.Server, c *framework.Client) {
			zkinside.Of(srv).ReplaceSession(c.SessionID())
			srv.CutAll()
		},
		"partitioned": func(srv *zktest.Server, c *framework.Client) { srv.BlackholeAll() },
	} {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			var list []*framework.Watch
			for _, set := range watchKinds(c) {
				w, err := set(t.Context(), "/")
				require.NoError(t, err)
				list = append(list, w)
			}
			end(srv, c)
			for _, w := range list {
				_, err := w.Wait(within(t, time.Minute))
				require.ErrorIs(t, err, framework.ErrSessionLost, name)
				w.Stop()
			}
			srv.Heal()
			time.Sleep(time.Minute)
			require.Empty(t, srv.Watches())
		})
	}
}

// One goroutine may wait for one of many watches.
func TestFunctionIsCalledWhenAWatchIsDone(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		calls := make(chan string, 10)
		var last *framework.Watch
		for kind, set := range watchKinds(c) {
			w, err := set(t.Context(), "/n")
			require.NoError(t, err)
			defer w.Stop()
			w.AfterFunc(func() { calls <- kind })
			stop := w.AfterFunc(func() { t.Error("it was taken back") })
			require.True(t, stop())
			require.False(t, stop(), "once")
			last = w
		}
		synctest.Wait()
		require.Empty(t, calls)
		mustCreate(t, c, "/n/child", "")
		require.Equal(t, "children", <-calls)
		synctest.Wait()
		require.Empty(t, calls, "the other watches wait")
		srv.Session(c.SessionID()).Expire()
		require.ElementsMatch(t, []string{"data", "exists"}, []string{<-calls, <-calls})
		require.True(t, fired(last))
		stop := last.AfterFunc(func() { calls <- "late" })
		require.Equal(t, "late", <-calls)
		require.False(t, stop(), "it was called")
	})
}

// Those that stay are called, whichever of their neighbours are taken back.
//
// Promise: Removing one function from a watch leaves the other functions.
func TestFunctionsOfAWatchAreTakenBackInAnyOrder(t *testing.T) {
	orders := [][]int{{0}, {1}, {2}, {0, 1}, {1, 0}, {0, 2}, {2, 0}, {1, 2}, {2, 1}, {0, 1, 2}, {2, 1, 0}, {1, 2, 0}}
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		for i, order := range orders {
			path := fmt.Sprint("/n", i)
			mustCreate(t, c, path, "")
			_, _, w, err := c.GetW(t.Context(), path)
			require.NoError(t, err)
			var called [3]atomic.Int32
			var stops [3]func() bool
			for i := range stops {
				stops[i] = w.AfterFunc(func() { called[i].Add(1) })
			}
			want := [3]int32{1, 1, 1}
			for _, i := range order {
				require.True(t, stops[i]())
				want[i] = 0
			}
			require.NoError(t, srv.Set(path, nil))
			require.True(t, fired(w))
			synctest.Wait()
			for i := range stops {
				require.Equal(t, want[i], called[i].Load(), "the function %d, when %v were taken back", i, order)
				require.False(t, stops[i]())
			}
		}
	})
}

// Every change is seen: a reader that reads, waits and reads again ends up with
// the last value.
func TestNoWakeUpIsLost(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) { noWakeUpIsLost(t, srv, c, 300) })
}

func noWakeUpIsLost(t *testing.T, srv *zktest.Server, c *framework.Client, writes int) {
	mustCreate(t, c, "/n", "0")
	writer := another(t, srv)
	last := fmt.Sprint(writes)
	ctx := within(t, time.Minute)
	var all sync.WaitGroup
	for range 8 { // readers to the end
		all.Go(func() {
			for {
				data, _, w, err := c.GetW(ctx, "/n")
				if !assert.NoError(t, err) {
					return
				}
				if string(data) == last {
					w.Stop()
					return
				}
				_, err = w.Wait(ctx)
				if !assert.NoError(t, err, "the last value was not seen") {
					return
				}
			}
		})
	}
	for i := range 8 { // waiters that come and go
		all.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(i)))
			for range 200 {
				_, _, w, err := c.GetW(ctx, "/n")
				if !assert.NoError(t, err) {
					return
				}
				time.Sleep(time.Duration(rnd.IntN(200)) * time.Microsecond)
				w.Stop()
			}
		})
	}
	for i := range writes {
		_, err := writer.Set(ctx, "/n", []byte(fmt.Sprint(i+1)), int32(i))
		require.NoError(t, err)
	}
	all.Wait()
	require.NoError(t, srv.WaitFor(ctx, func() bool { return len(srv.Watches()) == 0 }))
}
