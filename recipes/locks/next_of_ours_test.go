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

// otherNodesAt returns a mutex whose nodes differ from the nodes of mutexAt, so that an
// object of the same client has a node at the same time as the holder.
func otherNodesAt(c *framework.Client) locks.Locker {
	return locks.NewInterProcessMutex(c, "/l", locks.WithoutIdentity())
}

// pairOfOne is pair, with both on one client.
func (w *world) pairOfOne(t *testing.T, second func(c *framework.Client) locks.Locker) *pair {
	t.Helper()
	p := &pair{world: w}
	p.one, p.network = w.Connect(t)
	p.two = p.one
	p.holder = hold(t, w.Patience(t), mutexAt(p.one))
	w.Fake.ClearRequests()
	p.next = take(w.Patience(t), second(p.two))
	time.Sleep(500 * time.Millisecond) // nobody reads the holder's node yet to look after it
	p.node = w.nextOf(p.holder)
	return p
}

// The next goroutine of the holder's client has no node. Its node is created in the
// same write as the deletion of the holder's.
func TestNextGoroutineQueuesWithTheRelease(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.pairOfOne(t, mutexAt)
		require.Empty(t, p.requestsOf(p.two))
		require.Equal(t, []zktest.Op{remove, create, list}, p.handOver(t))
		require.NoError(t, p.next.Lease.Release(t.Context()))
		time.Sleep(time.Hour)
		w.NothingLeft(t, "/l")
	})
}

// A contender that waits for a node of the same session lists the queue when that node
// is gone, because the end of the session deletes both nodes.
//
// Promise: The end of the session admits no waiter of that session.
func TestNextGoroutineListsTheQueueAfterItsOwnSession(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.pairOfOne(t, otherNodesAt)
		require.Equal(t, []zktest.Op{create, list, read}, p.requestsOf(p.two))
		require.Equal(t, []zktest.Op{remove, list}, p.handOver(t))
		require.NoError(t, p.next.Lease.Release(t.Context()))
		w.NothingLeft(t, "/l")
	})
}

// A session ends at the server while its holder releases the lock, and the request does
// not arrive any more. The client asks for the next goroutine's node after the release.
//
// Promise: A release in the same process whose reply was lost admits no waiter.
func TestNextGoroutineIsNotAdmittedByALostRelease(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.pairOfOne(t, mutexAt)
		three, _ := w.Connect(t)
		third := take(w.Patience(t), mutexAt(three))
		time.Sleep(time.Second)
		w.Fake.Inject(zktest.Rule{Optional: true, Op: remove, Path: p.holder.Path(), Session: p.one.SessionID(), Do: zktest.DelayRequest(time.Minute)})
		var releasing sync.WaitGroup
		releasing.Go(func() { _ = p.holder.Release(w.Patience(t)) })
		synctest.Wait()
		require.NoError(t, w.Fake.Delete(p.holder.Path())) // as the session's end does
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
