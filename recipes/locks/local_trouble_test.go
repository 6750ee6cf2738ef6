package locks_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// localQueue is a lock whose goroutines wait in the process for a place at the
// server.
type localQueue struct {
	makes   func(c *framework.Client) (front, behind locks.Locker)
	places  int    // acquires of the front that wait at the server, or for its answers
	creates string // the nodes that the front makes in vain; or, if they are listed first, lists
}

// trouble is what the front of a client meets.
func (q localQueue) trouble(c *framework.Client, times int, do zktest.Action) zktest.Rule {
	r := zktest.Rule{Op: zktest.OpCreate, Path: q.creates, Session: c.SessionID(), Times: times, Do: do}
	if q.request() == "children" {
		r.Op, r.Path = zktest.OpGetChildren2, "/l/leases"
	}
	return r
}

// request is the request that fails.
func (q localQueue) request() string {
	if strings.HasPrefix(q.creates, "/l/leases/") {
		return "children"
	}
	return "create"
}

var localQueues = map[string]localQueue{
	"mutex":             {both(mutexAt), 1, "/l/*"},
	"mutex, hand-over":  {both(handOverAt), 1, "/l/*"},
	"writer":            {both(writerAt), 1, "/l/*"},
	"writer, reader":    {each(writerAt, readerAt), 1, "/l/*"},
	"reader, writer":    {each(readerAt, writerAt), 1, "/l/*"},
	"semaphore":         {both(semaphoreAt), 1, "/l/locks/*"},
	"semaphore, leases": {both(semaphoreAt), 2, "/l/leases/*"},
	"semaphore mutex":   {both(semaphoreMutexAt), 1, "/l/locks/*"},
	"multi-lock":        {both(multiAt), 1, "/l/a/*"},
}

func each(front, behind func(c *framework.Client) locks.Locker) func(c *framework.Client) (front, behind locks.Locker) {
	return func(c *framework.Client) (locks.Locker, locks.Locker) { return front(c), behind(c) }
}

// both makes one object for all: goroutines of another do not share the queue of
// one that hands the lock over.
func both(makes func(c *framework.Client) locks.Locker) func(c *framework.Client) (front, behind locks.Locker) {
	return func(c *framework.Client) (locks.Locker, locks.Locker) {
		one := makes(c)
		return one, one
	}
}

func semaphoreMutexAt(c *framework.Client) locks.Locker {
	return locks.NewInterProcessSemaphoreMutex(c, "/l")
}

// ofEachLocalQueue runs a test in virtual time, for each lock. The parents of
// the nodes are there already.
func ofEachLocalQueue(t *testing.T, test func(t *testing.T, w *world, q localQueue)) {
	for name, q := range localQueues {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				for _, path := range []string{"/l", "/l/locks", "/l/leases", "/l/a", "/l/b"} {
					require.NoError(t, w.Fake.Create(path, nil))
				}
				test(t, w, q)
			})
		})
	}
}

// queueUpAtTheServer begins the acquires of the front, in order.
func (q localQueue) queueUpAtTheServer(ctx context.Context, front locks.Locker) (all []*locktest.Pending) {
	for range q.places {
		all = append(all, locktest.AcquireLater(ctx, front))
		synctest.Wait()
	}
	return all
}

// Goroutines that wait in the process make no requests. They give up, and name
// the trouble of the one for which they have waited.
func TestWaiterInTheProcessNamesTheTroubleOfTheFront(t *testing.T) {
	for name, trouble := range map[string]struct {
		do    zktest.Action
		names func(err error) bool
	}{
		"throttled": {zktest.Fail(zktest.ErrThrottled), isThrottled},
		"hangs up":  {zktest.DropRequest(), framework.IsConnectionError},
	} {
		t.Run(name, func(t *testing.T) {
			ofEachLocalQueue(t, func(t *testing.T, w *world, q localQueue) {
				c, _ := w.Connect(t)
				fault := w.Fake.Inject(q.trouble(c, -1, trouble.do))
				front, behind := q.makes(c)
				ctx, leave := context.WithCancel(w.Patience(t))
				defer leave()
				before := q.queueUpAtTheServer(ctx, front)
				for range 2 { // the first of them comes before the trouble has lasted
					_, err := behind.Acquire(recipetest.Within(t, time.Minute))
					require.ErrorIs(t, err, context.DeadlineExceeded)
					require.True(t, trouble.names(err), "%v", err)
					require.ErrorContains(t, err, "(last error: "+q.request()+" ")
					require.Positive(t, notAcquired(t, err).Ahead)
				}
				fault.Remove()
				require.NoError(t, before[0].Wait(t).Release(t.Context()))
				leave()
				for _, p := range before[1:] {
					<-p.Done
				}
			})
		})
	}
}

func isThrottled(err error) bool {
	code, _ := framework.ServerCode(err)
	return code == int32(zktest.ErrThrottled)
}

// The front has met trouble, and waits in the queue since. That trouble is over
// for all who wait behind it.
func TestWaiterInTheProcessNamesNoTroubleThatIsOver(t *testing.T) {
	ofEachLocalQueue(t, func(t *testing.T, w *world, q localQueue) {
		c, _ := w.Connect(t)
		front, behind := q.makes(c)
		rival, _ := q.makes(w.Observer)
		held, err := rival.Acquire(t.Context())
		require.NoError(t, err)
		throttled := w.Fake.Inject(q.trouble(c, 3, zktest.Fail(zktest.ErrThrottled)))
		ctx, leave := context.WithCancel(w.Patience(t))
		defer leave()
		all := q.queueUpAtTheServer(ctx, front)
		for range 3 {
			all = append(all, locktest.AcquireLater(ctx, behind))
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		require.Equal(t, 3, throttled.Hits())
		leave()
		for _, p := range all {
			if <-p.Done; p.Err == nil { // readers share the lock
				require.NoError(t, p.Lease.Release(t.Context()))
				continue
			}
			require.ErrorIs(t, p.Err, context.Canceled)
			require.NotContains(t, p.Err.Error(), "last error")
			require.False(t, isThrottled(p.Err), "%v", p.Err)
		}
		require.NoError(t, held.Release(t.Context()))
	})
}

// The front has met trouble, and gives up. The next has waited for the same
// trouble, and no request of its own is answered.
func TestWaiterWhoseTurnHasComeNamesTheTroubleBefore(t *testing.T) {
	ofEachLocalQueue(t, func(t *testing.T, w *world, q localQueue) {
		if q.places > 1 {
			return // the next has waited in the server's queue
		}
		c, _ := w.Connect(t)
		throttled := w.Fake.Inject(q.trouble(c, -1, zktest.Fail(zktest.ErrThrottled)))
		front, behind := q.makes(c)
		first := locktest.AcquireLater(recipetest.Within(t, time.Minute), front)
		synctest.Wait()
		next := locktest.AcquireLater(recipetest.Within(t, time.Minute+time.Second), behind)
		time.Sleep(time.Minute - time.Second) // too short a time for the connection to be given up
		throttled.Remove()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Session: c.SessionID(), Times: -1, Do: zktest.DelayRequest(time.Hour)})
		for _, p := range []*locktest.Pending{first, next} {
			<-p.Done
			require.ErrorIs(t, p.Err, context.DeadlineExceeded)
			require.True(t, isThrottled(p.Err), "%v", p.Err)
		}
	})
}

// All give up at the same moment. Those whose turn comes by that have made no
// request, and have waited for the same trouble. (Whoever comes to the gate of a
// semaphore then finds that all is well there.)
func TestWaitersThatGiveUpTogetherNameTheTrouble(t *testing.T) {
	ofEachLocalQueue(t, func(t *testing.T, w *world, q localQueue) {
		if q.places > 1 {
			return
		}
		c, _ := w.Connect(t)
		w.Fake.Inject(q.trouble(c, -1, zktest.Fail(zktest.ErrThrottled)))
		front, behind := q.makes(c)
		ctx, cancel := context.WithTimeout(w.Patience(t), time.Minute)
		defer cancel()
		all := q.queueUpAtTheServer(ctx, front)
		for range 5 {
			all = append(all, locktest.AcquireLater(ctx, behind))
			synctest.Wait()
		}
		for _, p := range all {
			<-p.Done
			require.ErrorIs(t, p.Err, context.DeadlineExceeded)
			require.True(t, isThrottled(p.Err), "%v", p.Err)
		}
	})
}

// The end of the front's own context is no trouble of those behind it.
func TestWaiterInTheProcessIsNotToldOfTheEndOfTheFront(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetChildren, Session: c.SessionID(), Times: -1, Do: zktest.Fail(zktest.ErrThrottled)})
		for range 2 {
			locktest.AcquireLater(recipetest.Within(t, 5*time.Second), mutexAt(c))
			synctest.Wait()
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		last := locktest.AcquireLater(ctx, mutexAt(c))
		synctest.Wait()
		network.Refuse(true)
		network.Cut()
		time.Sleep(10 * time.Second)
		cancel()
		<-last.Done
		require.ErrorIs(t, last.Err, context.Canceled)
		require.NotErrorIs(t, last.Err, context.DeadlineExceeded)
	})
}

// A try does not wait for others, but for the server's answers.
func TestTryBehindOthersInTheProcessNamesItsTrouble(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		ctx, leave := context.WithCancel(w.Patience(t))
		defer leave()
		hold(t, ctx, mutexAt(w.Observer))
		for range 3 {
			locktest.AcquireLater(ctx, locks.NewInterProcessMutex(c, "/l"))
			synctest.Wait()
		}
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetChildren, Session: c.SessionID(), Times: -1, Do: zktest.Fail(zktest.ErrThrottled)})
		_, err := mutexAt(c).TryAcquire(recipetest.Within(t, time.Second))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.True(t, isThrottled(err), "%v", err)
		require.Equal(t, 3, notAcquired(t, err).Ahead)
	})
}
