package leader_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// TestLeaderLatch#testWaiting: ten latches pass the leadership around. There
// are never two leaders.
func TestLatchesPassTheLeadershipAround(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		const n, rounds = 10, 10
		ctx, path := w.Patience(t), recipetest.Path(t)
		latches, _ := w.startLatches(t, path, n)
		var leading atomic.Int32
		var all sync.WaitGroup
		for _, l := range latches {
			all.Go(func() {
				for range rounds {
					lease, err := l.WaitLeadership(ctx)
					if !assert.NoError(t, err) {
						return
					}
					assert.EqualValues(t, 1, leading.Add(1))
					leading.Add(-1)
					assert.NoError(t, lease.Release(ctx))
				}
				assert.NoError(t, l.Shutdown(ctx))
			})
		}
		all.Wait()
		w.NothingLeft(t, path)
	})
}

// Curator's commit 14431d0b, TestLeaderLatch#testCorrectWatching: a candidate
// in the middle leaves, and the one behind it does not lead.
func TestCandidateInTheMiddleLeaves(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		latches, lease := w.startLatches(t, path, 4)
		require.NoError(t, latches[1].Shutdown(ctx))
		w.WaitNodes(t, path, 3)
		require.NoError(t, latches[3].Shutdown(ctx))
		w.WaitNodes(t, path, 2)
		require.NoError(t, lease.Context().Err())
		require.Nil(t, latches[2].Leadership())
		require.NoError(t, latches[0].Shutdown(ctx))
		w.await(t, latches[2])
		w.closeAll(t, path, latches[2])
	})
}

// A process may have many latches with one client, for one path or for several.
func TestManyLatchesOfOneClient(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		elsewhere := latch(t, c, path+"-2")
		var latches []*leader.Latch
		for range 10 {
			latches = append(latches, latch(t, c, path))
		}
		w.await(t, elsewhere)
		for len(latches) > 0 {
			lease := w.oneLeads(t, latches)
			w.WaitNodes(t, path, len(latches))
			for i, l := range latches {
				if l.Leadership() == lease {
					require.NoError(t, l.Shutdown(ctx))
					latches = append(latches[:i:i], latches[i+1:]...)
					break
				}
			}
		}
		require.NotNil(t, elsewhere.Leadership())
		require.NoError(t, elsewhere.Shutdown(ctx))
		w.NothingLeft(t, path)
	})
}

// Issue 257 of Netflix/curator, TestLeaderLatch#testResetRace: a latch has one
// node, however many calls come at once.
func TestLatchHasOneNode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		l := latch(t, c, "/l")
		for range 20 {
			lease := w.await(t, l)
			var all sync.WaitGroup
			for range 5 {
				all.Go(func() { l.Resign(t.Context()) })
				all.Go(func() { lease.Release(t.Context()) })
				all.Go(func() { w.Fake.Delete(lease.Path()) })
				all.Go(func() { locks.Revoke(t.Context(), w.Observer, lease.Path()) })
			}
			network.Cut()
			all.Wait()
		}
		time.Sleep(time.Minute)
		require.Len(t, w.Nodes(t, "/l"), 1)
		w.closeAll(t, "/l", l)
	})
}

// CURATOR-504, CURATOR-644: the candidate ahead leaves between the look at the
// queue and the watch on it. Curator's test is in TestLeaderLatch:
// #testLeadershipElectionWhenNodeDisappearsAfterChildrenAreRetrieved.
func TestLeaderLeavesBeforeItIsWatched(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		latches, lease := w.startLatches(t, "/l", 2)
		c, _ := w.Connect(t)
		ahead := w.Nodes(t, "/l")
		w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Op: zktest.OpGetData, Do: zktest.Call(func(zktest.Request) {
			latches[1].Shutdown(t.Context())
		})})
		third := latch(t, c, "/l")
		synctest.Wait()
		require.Len(t, ahead, 2)
		require.NoError(t, lease.Context().Err())
		require.Nil(t, third.Leadership())
		require.Len(t, w.Nodes(t, "/l"), 2, "nobody queues again because of it")
		require.NoError(t, latches[0].Shutdown(t.Context()))
		w.await(t, third)
		w.closeAll(t, "/l", third)
	})
}

// CURATOR-653,
// TestLeaderLatch#testResettingOfLeadershipAfterConcurrentLeadershipChange: the
// list of the queue is out of date when the latch receives it. The latch has to
// learn that.
func TestGrantThatIsOutOfDate(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		other, _ := w.Connect(t)
		standing := make(chan *leader.Latch, 1)
		w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Op: zktest.OpGetChildren, Do: zktest.All(
			zktest.CallAfter(func(r zktest.Request) {
				for _, n := range w.Fake.Queue("/l") {
					assert.NoError(t, w.Fake.Delete(n.Path))
				}
				second := latch(t, other, "/l")
				second.WaitLeadership(t.Context())
				standing <- second
			}), zktest.DelayReply(time.Second))})
		first := latch(t, c, "/l")
		time.Sleep(time.Minute)
		second := <-standing
		require.NotNil(t, second.Leadership())
		require.Nil(t, first.Leadership())
		require.Len(t, w.Nodes(t, "/l"), 2)
		w.closeAll(t, "/l", second, first)
	})
}

// TestLeaderLatch#testWatchedNodeDeletedOnReconnect: the leader leaves while
// the next candidate is cut off.
func TestLeaderLeavesWhileTheNextIsCutOff(t *testing.T) {
	for _, policy := range []state.ErrorPolicy{state.SessionPolicy, state.StandardPolicy} {
		t.Run(policy.String(), func(t *testing.T) {
			onFakeAndReal(t, func(t *testing.T, w *world) {
				path := recipetest.Path(t)
				latches, lease := w.startLatches(t, path, 1)
				c, network := w.Connect(t, framework.WithErrorPolicy(policy))
				second := latch(t, c, path)
				own := w.WaitNodes(t, path, 2)
				network.Refuse(true)
				network.Cut()
				require.NoError(t, latches[0].Shutdown(w.Patience(t)))
				require.Len(t, w.Nodes(t, path), 1)
				network.Refuse(false)
				next := w.await(t, second)
				require.Contains(t, own, next.Path()[len(path)+1:], "with the node that it has waited with")
				require.Greater(t, next.FencingToken(), lease.FencingToken())
				w.closeAll(t, path, second)
			})
		})
	}
}

// TestLeaderLatch#testUncreatedPathGetLeader, CURATOR-436, CURATOR-358: Leader
// and Participants also answer if no candidate has ever stood, or if the leader
// leaves during the call.
func TestLeaderAndParticipantsOfLatches(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		nobody := leader.NewSelector(c, path) // it does not stand
		_, err := nobody.Leader(ctx)
		require.ErrorIs(t, err, leader.ErrNoLeader)
		all, err := nobody.Participants(ctx)
		require.NoError(t, err)
		require.Empty(t, all)

		latches, lease := w.startLatches(t, path, 3, leader.WithID("héllo"))
		asks := latch(t, c, path, leader.WithID("héllo"))
		w.WaitNodes(t, path, 4)
		all, err = asks.Participants(ctx)
		require.NoError(t, err)
		require.Len(t, all, 4)
		for i, p := range all {
			require.Equal(t, i == 0, p.Holder)
			require.Equal(t, "héllo", p.ID())
		}
		leading, err := asks.Leader(ctx)
		require.NoError(t, err)
		require.Equal(t, all[0], leading)
		require.Equal(t, lease.FencingToken(), leading.Token)
		if w.Fake != nil {
			gone := zktest.CallAfter(func(zktest.Request) { latches[0].Shutdown(ctx) })
			w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Op: zktest.OpGetChildren, Do: gone})
			leading, err = asks.Leader(ctx)
			require.NoError(t, err)
			require.Equal(t, all[1].Path, leading.Path)
		}
		w.closeAll(t, path, append(latches, asks)...)
		_, err = asks.Leader(ctx)
		require.ErrorIs(t, err, leader.ErrNoLeader)
	})
}

// A candidate comes behind the leader, and that one goes, while the queue was
// listed and the leader's node was not yet read. Somebody has led all the while.
func TestLeaderThatHasComeMeanwhileIsFound(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		require.NoError(t, w.Fake.Create("/l", nil))
		require.NoError(t, w.Fake.Create("/l/lock-0000000001", nil))
		read := w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Path: "/l/lock-0000000001", Do: zktest.Call(func(zktest.Request) {
			require.NoError(t, w.Fake.Create("/l/lock-0000000002", nil))
			require.NoError(t, w.Fake.Delete("/l/lock-0000000001"))
		})})
		leading, err := leader.NewSelector(c, "/l").Leader(ctx)
		require.NoError(t, err)
		require.Equal(t, 1, read.Hits())
		require.Equal(t, "/l/lock-0000000002", leading.Path)
	})
}

// TestLeaderLatch#testRelativePath: a latch with an invalid path or option does
// not stand.
func TestLatchThatCannotStand(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		_, err := leader.NewLatch(c, "relative")
		require.ErrorIs(t, err, zk.ErrInvalidPath)
		for _, opt := range []leader.LatchOption{
			leader.WithGrace(-1), leader.WithID("__REVOKE__"), nil,
		} {
			_, err = leader.NewLatch(c, "/l", opt)
			require.ErrorIs(t, err, zk.ErrBadArguments)
		}
	})
}
