package seat

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// arrivals puts waiters into a lane that nobody else uses.
func arrivals(t *testing.T, of ...*Lock) (*lane, []*waiter) {
	set, all := &laneSet{}, []*waiter(nil)
	var q *lane
	for _, l := range of {
		w := &waiter{of: l}
		q, _ = set.arrive(laneKey{}, w)
		all = append(all, w)
	}
	return q, all
}

// comeBack has a waiter that had a role come back to the line.
func comeBack(q *lane, w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.returnLocked(w)
}

// A waiter gets its role between its arrival and its wait. It need not wait then.
func TestRoleThatComesBeforeTheWaitIsNotMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, all := arrivals(t, writes, writes)
		require.Equal(t, drives, all[0].role)
		require.Equal(t, waits, all[1].role)
		q.stopDriving(all[0])
		require.NoError(t, q.wait(t.Context(), Attempt{}, all[1], 1))
		require.Equal(t, drives, all[1].role)
	})
}

// A waiter that cannot trust what it got is ahead of all that came meanwhile.
//
// Promise: A waiter that cannot use what it got is the first in its line again.
func TestWaiterThatComesBackIsAheadOfThoseThatCameLater(t *testing.T) {
	q, all := arrivals(t, writes, writes)
	back := &waiter{of: writes, role: sits}
	comeBack(q, back)
	q.stopDriving(all[0])
	require.Equal(t, drives, back.role)
	require.Equal(t, waits, all[1].role)
}

// A try that had the lock, and cannot trust it, comes back. Others are there now, so
// that it is refused.
func TestTryThatComesBackBehindOthersIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := arrivals(t, writes)
		w := &waiter{of: writes, role: sits, tries: true}
		comeBack(q, w)
		require.Equal(t, fails, w.role)
		require.NotNil(t, w.failed)
		require.Empty(t, q.line)
	})
}

// Waiters leave with each role. What a waiter has got meanwhile, the next one gets.
//
// Promise: A waiter that gives up at the moment of its turn lets the next one enter.
// Promise: A lock that is handed to a waiter who has left is released.
func TestWaiterThatLeavesKeepsNothing(t *testing.T) {
	t.Run("waits", func(t *testing.T) {
		q, all := arrivals(t, writes, writes, writes)
		require.Equal(t, 2, q.leaveLine(all[2]).Ahead)
		require.Equal(t, 1, q.leaveLine(all[1]).Ahead)
		require.Empty(t, q.line)
	})
	t.Run("drives", func(t *testing.T) {
		q, all := arrivals(t, writes, writes)
		q.leaveLine(all[0])
		require.Equal(t, drives, all[1].role)
		q.leaveLine(all[1])
		require.True(t, q.over)
	})
	t.Run("rereads", func(t *testing.T) {
		inBubble(t, func(t *testing.T, _ *zktest.Server, c *framework.Client) {
			m := readers(c)
			lease, err := m.Acquire(t.Context(), true)
			require.NoError(t, err)
			time.Sleep(time.Second)
			q, first, second := lease.Hold().seat.lane, &waiter{of: m}, &waiter{of: m}
			lanes.arrive(q.key, first)
			lanes.arrive(q.key, second)
			require.Equal(t, rereads, first.role)
			require.Equal(t, waits, second.role, "one look for all")
			q.leaveLine(first)
			require.Equal(t, rereads, second.role)
			q.leaveLine(second)
			require.NoError(t, lease.Release(t.Context()))
		})
	})
	t.Run("sits", func(t *testing.T) {
		inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			m := mutex(c, func(cfg *Config) { cfg.MaxReuses, cfg.HandOver = 9, time.Hour })
			lease, err := m.Acquire(t.Context(), true)
			require.NoError(t, err)
			q, w, next := lease.Hold().seat.lane, &waiter{of: m}, &waiter{of: m}
			lanes.arrive(q.key, w)
			lanes.arrive(q.key, next)
			require.NoError(t, lease.Release(t.Context()))
			require.Equal(t, sits, w.role)
			q.leaveLine(w)
			synctest.Wait()
			require.NotEqual(t, waits, next.role)
			q.leaveLine(next)
			synctest.Wait()
			require.Empty(t, srv.Children("/l"))
			require.Zero(t, lanesOf(c))
		})
	})
}

// hookedContext calls a function when somebody asks whether it has ended.
type hookedContext struct {
	context.Context
	asked func()
}

func (c hookedContext) Err() error {
	c.asked()
	return c.Context.Err()
}

// The second goroutine cannot use the lock which it was handed. The third does not pass it,
// whenever that is noticed.
//
// Promise: A waiter that loses what it was handed before it runs keeps its place in the line.
func TestWaiterThatSendsItsHoldBackIsNotPassed(t *testing.T) {
	lose := func(s *Seat) { s.lose(framework.ErrSessionLost) }
	for name, tc := range map[string]struct {
		disturb func(s *Seat)
		late    bool // the third comes when the lock is lost already
	}{
		"asked for":              {disturb: (*Seat).Request},
		"deleted":                {disturb: (*Seat).NodeDeleted},
		"lost":                   {disturb: lose},
		"lost before the third":  {disturb: lose, late: true},
		"asked before the third": {disturb: (*Seat).Request, late: true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, _ *zktest.Server, c *framework.Client) {
				m := mutex(c, func(cfg *Config) { cfg.MaxReuses, cfg.HandOver = 9, time.Hour })
				first := acquire(t, m)
				s := first.won().Hold().seat
				var handed atomic.Bool
				var third *waiter
				arrive := func() {
					third = &waiter{of: m}
					lanes.arrive(s.lane.key, third)
				}
				second := acquireUnder(hookedContext{t.Context(), func() {
					if !handed.CompareAndSwap(true, false) {
						return
					}
					if tc.disturb(s); tc.late {
						arrive()
					}
				}}, t, m)
				if !tc.late {
					arrive()
				}
				handed.Store(true)
				first.release()
				synctest.Wait()
				require.Equal(t, waits, third.role)
				q := second.won().Hold().seat.lane
				require.NotSame(t, s, second.won().Hold().seat)
				second.release()
				require.NotEqual(t, waits, third.role)
				q.leaveLine(third)
				synctest.Wait()
				require.Zero(t, lanesOf(c))
			})
		})
	}
}

// A reader lists the queue when the seat that it wants to join is given back or lost. A
// writer that came later does not pass that reader.
//
// Promise: A reader that reads the queue keeps its place in the line.
func TestReaderThatLooksIsNotPassed(t *testing.T) {
	for name, end := range map[string]func(first *acquired){
		"given back": func(first *acquired) { first.release() },
		"lost":       func(first *acquired) { first.won().Hold().seat.lose(framework.ErrSessionLost) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				m := readers(c)
				first := acquire(t, m)
				s := first.won().Hold().seat
				time.Sleep(time.Second)
				srv.Inject(zktest.Rule{Op: zktest.OpGetChildren, Do: zktest.DelayReply(time.Second)})
				second := acquire(t, m)
				third := acquire(t, writers(c))
				end(first)
				time.Sleep(2 * time.Second)
				require.False(t, second.waits())
				require.NotSame(t, s, second.won().Hold().seat)
				_ = first.won().Release(t.Context())
				require.True(t, third.waits())
				second.release()
				third.release()
				require.Zero(t, lanesOf(c))
			})
		})
	}
}
