package barriers_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// Many members arrive while a round is inside, some of whose members have
// called Leave. The requests grow with the number of members, and not with its
// square.
func TestRequestsOfArrivalsBesideARound(t *testing.T) {
	const n = 40
	for name, gone := range map[string]int{"inside": 0, "leaving": n - 1} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				clients := w.clients(t, 2*n)
				inside := w.enterAll(t, "/b", clients[:n])
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				var left []*leaving
				for _, p := range inside[:gone] {
					left = append(left, leaveLater(w.Patience(t), p))
				}
				settle()
				w.Fake.ClearRequests()
				for _, c := range clients[n : 2*n-1] {
					next := enterLater(ctx, barriers.NewDoubleBarrier(c, "/b", n))
					time.Sleep(time.Millisecond)
					require.False(t, next.isOver())
				}
				time.Sleep(900 * time.Millisecond)
				t.Logf("%d requests", len(w.Requests()))
				require.Less(t, len(w.Requests()), 12*n)
				stop()
				w.leaveAll(t, inside[gone:])
				for _, l := range left {
					<-l.done
					require.NoError(t, l.err)
				}
			})
		})
	}
}

// The loss of a member is noticed, also if members arrive all the time.
func TestLossAmongArrivals(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 3)
		inside := w.enterAll(t, "/b", clients[:2])
		settle()
		arrive := enterLater(recipetest.Within(t, time.Minute), barriers.NewDoubleBarrier(clients[2], "/b", 2))
		require.NoError(t, w.Fake.Delete("/b/"+inside[0].Name()))
		begun := time.Now()
		<-inside[1].Context().Done()
		require.ErrorIs(t, context.Cause(inside[1].Context()), barriers.ErrMemberLost)
		require.Less(t, time.Since(begun), time.Second)
		w.leaveAll(t, inside[1:])
		<-arrive.done
	})
}

// A member of a large round pauses before it looks for losses. The end of its
// client does not wait for the end of the pause.
func TestCloseEndsThePauseOfAMember(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 40)
		w.enterAll(t, "/b", clients)
		time.Sleep(time.Second)
		require.NoError(t, w.Fake.Create("/b/stranger", nil)) // a reason to look
		settle()
		begun := time.Now()
		require.NoError(t, clients[7].Close())
		require.Less(t, time.Since(begun), 100*time.Millisecond)
	})
}

// A member that gives up says how many waited then, itself included. Members
// that are inside do not count.
func TestMembersSeenAtTheEnd(t *testing.T) {
	for name, opts := range layouts {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				clients := w.clients(t, 6)
				if name == "own" {
					w.enterAll(t, "/b", clients[3:], opts...)
				}
				pending := enterLater(recipetest.Within(t, time.Minute), barriers.NewDoubleBarrier(clients[0], "/b", 3, opts...))
				time.Sleep(5 * time.Second)
				other := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[1], "/b", 3, opts...))
				<-pending.done
				require.ErrorIs(t, pending.err, barriers.ErrNotEntered)
				require.ErrorIs(t, pending.err, context.DeadlineExceeded)
				require.ErrorContains(t, pending.err, ": 2 of 3 were there: ")
				require.NoError(t, clients[1].Close())
				<-other.done
			})
		})
	}
}

// Without a connection, a member that gives up does not wait for an answer. It
// says how many it has seen before.
func TestMembersSeenBeforeAnOutage(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 1)
		pending := enterLater(recipetest.Within(t, time.Minute), barriers.NewDoubleBarrier(clients[0], "/b", 3))
		settle()
		w.Stop()
		begun := time.Now()
		<-pending.done
		require.LessOrEqual(t, time.Since(begun), time.Minute)
		require.ErrorIs(t, pending.err, barriers.ErrNotEntered)
		require.ErrorContains(t, pending.err, ": 1 of 3 were there: ")
		w.Start()
	})
}

// A server refuses to show the node of a member that waits, time and again, as
// if an operator deleted it. The member enters again after pauses.
func TestEntersAgainAfterPauses(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		gone := w.Fake.Inject(zktest.Rule{
			Op: zktest.OpGetData, Path: "/b", Times: -1, Do: zktest.Fail(zktest.ErrNoNode),
		})
		w.Fake.ClearRequests()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := barriers.NewDoubleBarrier(c, "/b", 2).Enter(ctx)
		require.ErrorIs(t, err, barriers.ErrNotEntered)
		require.Greater(t, gone.Hits(), 10)
		require.Less(t, len(w.Requests()), 500)
		gone.Remove()
		time.Sleep(time.Second)
		w.NothingLeft(t, "/b")
	})
}

// Others change what a member looks at, time and again: somebody writes the barrier's
// node just before each opening, or makes the node of an opening as soon as it is
// deleted that is of no round. The member looks again at once the first time, and
// after pauses then.
func TestMemberThatIsBeatenTimeAndAgainPauses(t *testing.T) {
	for name, tc := range map[string]struct {
		opts  []barriers.Option
		beats func(w *world) zktest.Rule
	}{
		"rounds": {nil, func(*world) zktest.Rule {
			return zktest.Rule{Op: zktest.OpMulti, Do: zktest.Fail(zktest.ErrBadVersion)}
		}},
		"ready": {[]barriers.Option{barriers.WithCuratorLayout()}, func(w *world) zktest.Rule {
			require.NoError(t, w.Fake.Create("/b", nil))
			require.NoError(t, w.Fake.Create("/b/ready", nil))
			return zktest.Rule{Op: zktest.OpDelete, Path: "/b/ready", Do: zktest.CallAfter(func(zktest.Request) {
				_ = w.Fake.Create("/b/ready", nil)
			})}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				rule := tc.beats(w)
				rule.Times = 1000
				beats := w.Fake.Inject(rule)
				time.AfterFunc(30*time.Second, beats.Remove)
				p, err := barriers.NewDoubleBarrier(c, "/b", 1, tc.opts...).Enter(w.Patience(t))
				require.NoError(t, err)
				require.Greater(t, beats.Hits(), 5)
				require.Less(t, beats.Hits(), 50)
				require.NoError(t, p.Leave(w.Patience(t)))
			})
		})
	}
}
