package seat

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// The seat of a lost lock has no lane any more, so that the next goroutine of the
// client need not wait for the holder.
//
// Promise: A lost lock frees its place in the local queue.
func TestLossFreesTheLaneAndTheReleaseReportsIt(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		lease, err := mutex(c).Acquire(t.Context(), true)
		require.NoError(t, err)
		s := lease.Hold().Seat()
		require.Equal(t, Held, s.State())
		expire(srv, s)
		require.Equal(t, Lost, s.State())
		require.Zero(t, lanesOf(c))

		next, err := mutex(c).Acquire(t.Context(), true)
		require.NoError(t, err)
		require.ErrorIs(t, lease.Release(t.Context()), framework.ErrSessionLost)
		require.Equal(t, Gone, s.State())
		require.NoError(t, next.Context().Err())
		require.NoError(t, next.Release(t.Context()))
	})
}

// The session ends while the lock is handed over. Before, the goroutine gets another
// seat. After that, its hold is lost.
//
// Promise: A lock of an ended session is not handed over within the process.
func TestSessionEndsDuringAHandOver(t *testing.T) {
	for name, tc := range map[string]struct{ before bool }{"before": {true}, "after": {false}} {
		t.Run(name, func(t *testing.T) {
			withTwo(t, func(t *testing.T, w *two) {
				s := w.lease.Hold().Seat()
				if tc.before {
					s.mu.Lock() // the end of the session has not reached the seat yet
					w.srv.Session(s.session().ID()).Expire()
					<-s.session().Context().Done()
					s.mu.Unlock()
				}
				_ = w.lease.Release(t.Context())
				if !tc.before {
					synctest.Wait()
					require.Same(t, s, w.won().Hold().Seat())
					expire(w.srv, s)
					require.Equal(t, Lost, s.State())
					require.ErrorIs(t, context.Cause(w.next.Context()), framework.ErrSessionLost)
					return
				}
				require.NotSame(t, s, w.won().Hold().Seat())
				require.NoError(t, w.next.Context().Err())
				require.NoError(t, w.next.Release(t.Context()))
				require.Equal(t, Gone, s.State())
			})
		})
	}
}

// A seat is lost in the moment in which it is given to the next goroutine.
func TestLostSeatIsNotGivenAway(t *testing.T) {
	withHold(t, func(t *testing.T, w held) {
		s := w.hold.Seat()
		s.lose(framework.ErrSessionLost)
		require.Nil(t, s.sit())
		require.Equal(t, Lost, s.State(), "it stays for its holder")
		require.ErrorIs(t, w.lease.Release(t.Context()), framework.ErrSessionLost)
		require.Nil(t, s.sit())
		require.Equal(t, Gone, s.State())
	})
}

// Another client asks for the lock, and this client has a waiting goroutine. The
// goroutine gets a node after the nodes of other clients.
//
// Promise: A lock whose release was requested is not handed over within the process.
func TestRequestPreventsAHandOver(t *testing.T) {
	withTwo(t, func(t *testing.T, w *two) {
		first := w.lease.Path()
		asked := w.lease.Requested()
		require.NoError(t, w.srv.Set(first, RevocationMarker))
		<-asked
		require.NoError(t, w.lease.Release(t.Context()))
		require.NotEqual(t, first, w.won().Path())
		require.Equal(t, Gone, w.lease.Hold().Seat().State())
		require.NoError(t, w.next.Release(t.Context()))
	})
}

// two is a lease of a lock that goroutines hand over, and a goroutine that waits for it.
type two struct {
	srv   *zktest.Server
	c     *framework.Client
	lease *Lease
	next  *Lease // set by won
	done  chan struct{}
}

// won waits until the goroutine has its lease.
func (w *two) won() *Lease {
	<-w.done
	return w.next
}

func withTwo(t *testing.T, test func(t *testing.T, w *two)) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		handsOver := func(cfg *Config) { cfg.MaxReuses, cfg.HandOver = 100, time.Hour }
		lease, err := mutex(c, handsOver).Acquire(t.Context(), true)
		require.NoError(t, err)
		w := &two{srv: srv, c: c, lease: lease, done: make(chan struct{})}
		go func() {
			defer close(w.done)
			w.next, _ = mutex(c, handsOver).Acquire(t.Context(), true)
		}()
		synctest.Wait()
		test(t, w)
	})
}

// A loss comes while a release decides, when nobody holds the seat any more.
func TestLostSeatIsNotParked(t *testing.T) {
	withHold(t, func(t *testing.T, w held) {
		s := w.hold.seat
		require.True(t, s.unseat(w.hold))
		require.True(t, s.become(Lost))
		require.False(t, s.park(), "the next goroutine would take it")
		require.Equal(t, Lost, s.State())
		s.deleteInBackground()
		require.Equal(t, Gone, s.State())
		require.False(t, exists(w.srv, "n"))
	})
}

// A reader joins just when another one goes who does not wait for the deletion.
func TestSeatWithAnotherHolderIsNotRetired(t *testing.T) {
	withHold(t, func(t *testing.T, w held) {
		s := w.hold.seat
		other := s.sit()
		w.hold.dropShares()
		w.hold.releaseInBackground(ErrReleased)
		require.Equal(t, Held, s.State())
		require.NoError(t, other.Context().Err())
		require.True(t, exists(w.srv, "n"))
		other.dropShares()
		other.releaseInBackground(ErrReleased)
		require.Equal(t, Gone, s.State())
		require.False(t, exists(w.srv, "n"))
	})
}

// An interruption ends the trust in a lock that was just released, and the session tells
// the seat only when that rests already: nobody works under it.
func TestLateInterruptionDoesNotEndAMinimumHold(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		lease, err := mutex(c, func(cfg *Config) { cfg.MinimumHold = time.Hour }).Acquire(t.Context(), true)
		require.NoError(t, err)
		s := lease.Hold().Seat()
		trusted := s.trusted
		require.NoError(t, lease.Release(t.Context()))
		require.Equal(t, Parked, s.State())
		srv.RefuseConnections(true)
		srv.CutAll()
		<-trusted.Done()
		s.trustEnded(trusted)
		require.Equal(t, Parked, s.State())
		srv.RefuseConnections(false)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, Gone, s.State())
	}, framework.WithErrorPolicy(state.StandardPolicy))
}

// The lease ends while an acquire under its context is under way, which has the last
// share then. Its end is the hold's.
func TestLastShareThatNoLeaseHasEndsTheHold(t *testing.T) {
	withHold(t, func(t *testing.T, w held) {
		joined, err := w.hold.Join()
		require.True(t, joined)
		require.NoError(t, err)
		require.NoError(t, w.lease.Release(t.Context()))
		require.NoError(t, w.hold.Context().Err())
		w.hold.Leave(t.Context(), nil)
		require.ErrorIs(t, w.hold.Loss(), ErrReleased)
		require.False(t, exists(w.srv, "n"))
	})
}

// The first lease of a hold is released before the lease that has re-entered. Another
// client deletes the node. The deletion ends the remaining lease, and its release
// returns the loss.
func TestHoldOutlivesItsFirstLease(t *testing.T) {
	withHold(t, func(t *testing.T, w held) {
		again, err := Reenter(w.lease.Context(), "key")
		require.NoError(t, err)
		require.NoError(t, w.lease.Release(t.Context()))
		require.ErrorIs(t, context.Cause(w.lease.Context()), ErrReleased)
		require.NoError(t, again.Context().Err())
		require.NoError(t, w.hold.Context().Err())

		third, err := Reenter(again.Context(), "key")
		require.NoError(t, err, "the hold goes on")
		require.NoError(t, third.Release(t.Context()))

		w.hold.seat.NodeDeleted()
		require.ErrorIs(t, context.Cause(again.Context()), ErrNodeDeleted)
		require.ErrorIs(t, w.hold.Loss(), ErrNodeDeleted)
		require.ErrorIs(t, again.Release(t.Context()), ErrNodeDeleted)
		require.Equal(t, Gone, w.hold.seat.State())
	})
}
