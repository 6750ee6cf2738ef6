package locks_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// pairOfOne is pair, with both on one client.
func (w *world) pairOfOne(t *testing.T, first, second func(c *framework.Client) locks.Locker) *pair {
	t.Helper()
	p := &pair{world: w}
	p.one, p.network = w.Connect(t)
	p.two = p.one
	p.holder = hold(t, w.Patience(t), first(p.one))
	w.Fake.ClearRequests()
	p.next = take(w.Patience(t), second(p.two))
	time.Sleep(500 * time.Millisecond) // nobody reads the holder's node yet to look after it
	p.node = w.nextOf(p.holder)
	return p
}

// The next in line of the holder's own client takes the lock on the event, too. The
// answer to the release proves that the session lived.
func TestNextOfOursTakesTheLockWithoutALook(t *testing.T) {
	for name, of := range map[string]struct {
		first, second func(c *framework.Client) locks.Locker
	}{
		"mutex":                 {mutexAt, mutexAt},
		"writer after a reader": {readerAt, writerAt},
		"other options": {mutexAt, func(c *framework.Client) locks.Locker {
			return locks.NewInterProcessMutex(c, "/l", locks.WithCachedLock(10, time.Minute))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				p := w.pairOfOne(t, of.first, of.second)
				require.Equal(t, []zktest.Op{create, list, read, read}, p.requestsOf(p.two))
				require.Equal(t, []zktest.Op{remove}, p.handOver(t))
				time.Sleep(10 * time.Second)
				require.Equal(t, []zktest.Op{remove}, p.Requests(), "it has the watch on its node")
				require.NoError(t, p.next.Lease.Release(t.Context()))
				time.Sleep(time.Hour)
				w.NothingLeft(t, "/l")
			})
		})
	}
}

// In these cases the answer does not say that the session lived when the node was
// deleted, or that we are the first, and the next in line looks at the queue.
//
// Promise: A waiter does not take another client's deletion for the release of its own process.
func TestNextOfOursLooksWhereTheAnswerProvesNothing(t *testing.T) {
	deletion := func(do zktest.Action) func(t *testing.T, p *pair) {
		return func(_ *testing.T, p *pair) { p.Fake.Inject(zktest.Rule{Op: remove, Path: p.holder.Path(), Do: do}) }
	}
	for name, tc := range map[string]struct {
		first, second func(c *framework.Client) locks.Locker
		before        func(t *testing.T, p *pair)
	}{
		"a reconnect": {mutexAt, mutexAt, func(t *testing.T, p *pair) {
			p.network.Cut()
			synctest.Wait()
			require.NoError(t, p.two.WaitConnected(t.Context()))
			time.Sleep(time.Second)
		}},
		"a lost request":          {mutexAt, mutexAt, deletion(zktest.DropRequest())},
		"a lost reply":            {mutexAt, mutexAt, deletion(zktest.DropReply())},
		"a writer after a writer": {writerAt, writerAt, func(*testing.T, *pair) {}},
		"somebody else": {mutexAt, mutexAt, func(t *testing.T, p *pair) {
			p.Fake.Inject(zktest.Rule{Op: remove, Path: p.holder.Path(), Do: zktest.Call(func(zktest.Request) {
				if err := p.Fake.Delete(p.holder.Path()); err != nil {
					t.Error(err)
				}
			})})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				p := w.pairOfOne(t, tc.first, tc.second)
				tc.before(t, p)
				require.Contains(t, p.handOver(t), list)
				require.NoError(t, p.next.Lease.Release(t.Context()))
				w.NothingLeft(t, "/l")
			})
		})
	}
}

// A session ends at the server while its holder releases the lock, and the request
// does not arrive any more. As in TestNextInLineIsNotAdmittedByTheEndOfItsSession,
// the next goroutine of the client hears that the holder's node is gone, and not that
// its own is.
//
// Promise: A waiter is not admitted by a release of its own process whose reply was lost.
func TestNextOfOursIsNotAdmittedByAReleaseThatIsLost(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.pairOfOne(t, mutexAt, mutexAt)
		three, _ := w.Connect(t)
		third := take(w.Patience(t), mutexAt(three))
		time.Sleep(time.Second)
		w.Fake.Inject(zktest.Rule{Op: remove, Path: p.holder.Path(), Session: p.one.SessionID(), Do: zktest.DelayRequest(time.Minute)})
		var releasing sync.WaitGroup
		releasing.Go(func() { _ = p.holder.Release(w.Patience(t)) })
		synctest.Wait()
		require.NoError(t, w.Fake.Delete(p.holder.Path())) // the first half of the session's end
		time.Sleep(100 * time.Millisecond)
		require.False(t, p.next.IsOver(), "the answer has not come")
		w.Fake.RefuseConnections(true)
		w.Fake.Session(p.one.SessionID()).Expire()
		third.Wait(t)
		time.Sleep(100 * time.Millisecond)
		require.False(t, p.next.IsOver(), "admitted by the end of its own session")
		w.Fake.RefuseConnections(false)
		releasing.Wait()
		require.NoError(t, third.Lease.Release(t.Context()))
		require.NoError(t, p.next.Wait(t).Release(t.Context()))
		w.NothingLeft(t, "/l")
	})
}
