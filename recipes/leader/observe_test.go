package leader_test

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// observe reads the leaders on a new goroutine. next returns them one after the other.
func (w *world) observe(t *testing.T, c *framework.Client, path string) (next func() locks.Participant) {
	t.Helper()
	return recipetest.Read(t, w.World, func(ctx context.Context) iter.Seq2[locks.Participant, error] {
		return leader.Observe(ctx, c, path)
	})
}

// An observer sees each leader, with its name and token, and that there is
// none. It sees latches and selectors.
func TestObserverSeesTheLeaders(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		next := w.observe(t, w.Observer, path)
		require.Equal(t, locks.Participant{}, next(), "nobody stands")
		c, _ := w.Connect(t)
		var latches []*leader.Latch
		for _, id := range []string{"a", "b", "c"} {
			l, err := leader.NewLatch(c, path, leader.WithID(id))
			require.NoError(t, err)
			latches = append(latches, l)
			w.WaitNodes(t, path, len(latches))
		}
		var last int64
		for i, id := range []string{"a", "b", "c"} {
			lease, err := latches[i].WaitLeadership(w.Patience(t))
			require.NoError(t, err)
			p := next()
			require.Equal(t, id, p.ID())
			require.Equal(t, lease.FencingToken(), p.Token)
			require.Equal(t, lease.Path(), p.Path)
			require.Equal(t, c.SessionID(), p.Session)
			require.Greater(t, p.Token, last)
			last = p.Token
			require.NoError(t, latches[i].Shutdown(w.Patience(t)))
		}
		require.Equal(t, locks.Participant{}, next())
		w.WaitNodes(t, path, 0)

		s := leader.NewSelector(c, path, leader.WithID("s"))
		require.NoError(t, s.Run(w.Patience(t), func(ctx context.Context) error {
			p := next()
			require.Equal(t, "s", p.ID())
			lease, _ := locks.LeaseFromContext(ctx)
			require.Equal(t, lease.FencingToken(), p.Token)
			return nil
		}))
		require.Equal(t, locks.Participant{}, next())
	})
}

// Promise: Now returns the leader among latches and selectors, and ErrNoLeader only if
// there is no candidate of either kind.
func TestNowSeesLatchesAndSelectors(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		_, err := leader.Now(w.Patience(t), w.Observer, path)
		require.ErrorIs(t, err, leader.ErrNoLeader)
		require.ErrorContains(t, err, path)

		c, _ := w.Connect(t)
		l := latch(t, c, path, leader.WithID("latch"))
		lease := w.await(t, l)
		now, err := leader.Now(w.Patience(t), w.Observer, path)
		require.NoError(t, err)
		require.Equal(t, "latch", now.ID())
		require.Equal(t, lease.Path(), now.Path)
		require.Equal(t, lease.FencingToken(), now.Token)
		require.True(t, now.Holder)
		require.NoError(t, l.Shutdown(w.Patience(t)))

		require.NoError(t, leader.NewSelector(c, path, leader.WithID("selector")).Run(w.Patience(t), func(ctx context.Context) error {
			now, err := leader.Now(ctx, w.Observer, path)
			require.NoError(t, err)
			require.Equal(t, "selector", now.ID())
			return nil
		}))
		_, err = leader.Now(w.Patience(t), w.Observer, path)
		require.ErrorIs(t, err, leader.ErrNoLeader)
		_, err = leader.Now(w.Patience(t), nil, path)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		_, err = leader.Now(w.Patience(t), w.Observer, "no path")
		require.ErrorIs(t, err, zk.ErrInvalidPath)
	})
}

// An observer has one watch, and candidates that come and go cost it no
// request.
func TestObserverHasOneWatch(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		watching, _ := w.Connect(t)
		next := w.observe(t, watching, "/l")
		watches := func() int {
			synctest.Wait()
			return zkinside.Of(w.Fake).Watches(watching.SessionID())
		}
		next()
		require.Equal(t, 1, watches(), "on the missing path")
		require.NoError(t, w.Fake.Create("/l", nil))
		require.Equal(t, 1, watches(), "on the path without candidates")
		c, _ := w.Connect(t)
		first, err := leader.NewLatch(c, "/l", leader.WithID("first"))
		require.NoError(t, err)
		require.Equal(t, "first", next().ID())
		require.Equal(t, 1, watches(), "on the leader")
		w.Fake.ClearRequests()
		for range 10 {
			l, err := leader.NewLatch(c, "/l")
			require.NoError(t, err)
			w.WaitNodes(t, "/l", 2)
			require.NoError(t, l.Shutdown(t.Context()))
		}
		synctest.Wait()
		for _, r := range w.Fake.Requests() {
			require.False(t, r.Session == watching.SessionID() && r.Path == "/l", "%v", r.Op)
		}
		require.Equal(t, 1, watches())
		require.NoError(t, first.Shutdown(t.Context()))
		require.Empty(t, next().Path)
	})
}

// An observer goes on after outages and losses of its session, and when
// everything was deleted. It tells no leader twice.
func TestObserverOutlivesItsSession(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		c, _ := w.Connect(t)
		watching, network := w.Connect(t)
		a := latch(t, c, path, leader.WithID("a"))
		w.await(t, a)
		b := latch(t, c, path, leader.WithID("b"))
		next := w.observe(t, watching, path)
		first := next()
		require.Equal(t, "a", first.ID())
		network.Expire(t)
		network.Cut()
		require.NoError(t, watching.WaitConnected(w.Patience(t)))
		require.NoError(t, a.Shutdown(w.Patience(t)))
		second := next()
		require.Equal(t, "b", second.ID(), "a was not told again")
		require.Greater(t, second.Token, first.Token)
		require.NoError(t, w.Observer.Delete(w.Patience(t), second.Path, framework.AnyVersion))
		third := next()
		if third.Path == "" {
			third = next()
		}
		require.Greater(t, third.Token, second.Token)
		require.NoError(t, b.Shutdown(w.Patience(t)))
	})
}

// A caller that leaves the loop, or whose context ends, leaves no watch. The
// end of a context is no error.
func TestObserverLeavesNoWatch(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		for range leader.Observe(w.Patience(t), w.Observer, path) {
			break
		}
		w.NoWatches(t)
		ctx, cancel := context.WithCancel(w.Patience(t))
		defer cancel()
		for _, err := range leader.Observe(ctx, w.Observer, path) {
			require.NoError(t, err)
			cancel()
		}
		w.NoWatches(t)
		for range leader.Observe(ctx, w.Observer, path) {
			t.Fatal("the context has ended")
		}
	})
}

// An observer survives server errors, and ends with an error that waiting does not
// cure.
func TestObserverEndsWithARefusal(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		last := func(c *framework.Client, path string) (last error) {
			for _, err := range leader.Observe(w.Patience(t), c, path) {
				require.NoError(t, last, "only the last one")
				last = err
			}
			return last
		}
		_, err := w.Observer.Create(t.Context(), "/l", nil, framework.WithACL(zk.WorldACL(zk.PermCreate)))
		require.NoError(t, err)
		c, _ := w.Connect(t)
		trouble := w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Times: 5, Do: zktest.Fail(zkinside.ErrSystem)})
		require.ErrorIs(t, last(c, "/l"), zk.ErrNoAuth)
		require.Equal(t, 5, trouble.Hits())
		require.ErrorIs(t, last(c, "l"), zk.ErrInvalidPath)
		require.ErrorIs(t, last(nil, "/l"), zk.ErrBadArguments)
		require.NoError(t, c.Close())
		require.ErrorIs(t, last(c, "/l"), framework.ErrClosed)
	})
}

// Nodes that are no candidates are not leaders.
func TestObserverIgnoresOtherNodes(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create("/l/other", nil))
		next := w.observe(t, w.Observer, "/l")
		require.Empty(t, next().Path)
		time.Sleep(time.Minute)
		require.NoError(t, w.Fake.Create("/l/_c_not-a-number-latch-000000000x", nil))
		require.NoError(t, w.Fake.Create("/l/_c_f0-latch-0000000007", []byte("java")))
		require.Equal(t, "java", next().ID())
	})
}

// A candidate comes while the observer looks for one: before the path is there,
// or when it is, between the look and the watch. The observer sees it, and leaves
// no watch behind but the one on its node.
//
// Promise: An observer sees a candidate that arrives between its read and its watch.
// Promise: An observer that re-reads leaves no watch.
// Promise: An observer sees a candidate that arrives just before the path is read.
func TestCandidateThatComesDuringALookIsSeen(t *testing.T) {
	for name, tc := range map[string]struct {
		path string // what is there before
		at   int    // before which listing it comes
	}{
		"path without candidates":         {"/l", 1},
		"no path":                         {"/other", 1},
		"no path, before it is asked for": {"/other", 2},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				require.NoError(t, w.Fake.Create(tc.path, nil))
				c, _ := w.Connect(t)
				w.Fake.Inject(zktest.Rule{
					Optional: true,
					Session:  c.SessionID(), Op: zktest.OpGetChildren, Path: "/l", After: tc.at - 1,
					Do: zktest.CallAfter(func(zktest.Request) {
						require.NoError(t, w.Fake.Create("/l/_c_f0-latch-0000000000", []byte("a")))
					}),
				})
				next := w.observe(t, c, "/l")
				require.Equal(t, "a", next().ID())
				time.Sleep(time.Minute)
				synctest.Wait()
				require.Equal(t, 1, zkinside.Of(w.Fake).Watches(c.SessionID()))
			})
		})
	}
}

// A stranger may write a megabyte into a node. An observer keeps the beginning.
func TestObserverKeepsTheBeginningOfTheData(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create("/l/_c_f0-latch-0000000000", make([]byte, 10<<10)))
		require.Len(t, w.observe(t, w.Observer, "/l")().Data, 4<<10)
	})
}

// The first of the candidates is gone whenever it is read. The observer looks again
// at once the first time, and after pauses then.
func TestObserverOfLeadersThatVanishPauses(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		l := latch(t, c, "/l")
		lease := w.await(t, l)
		gone := w.Fake.Inject(zktest.Rule{
			Op: zktest.OpGetData, Session: w.Observer.SessionID(), Times: 1000, Do: zktest.Fail(zkinside.ErrNoNode),
		})
		time.AfterFunc(time.Minute, gone.Remove)
		for now, err := range leader.Observe(w.Patience(t), w.Observer, "/l") {
			require.NoError(t, err)
			require.Equal(t, lease.Path(), now.Path)
			break
		}
		require.Greater(t, gone.Hits(), 5)
		require.Less(t, gone.Hits(), 30)
		w.closeAll(t, "/l", l)
	})
}
