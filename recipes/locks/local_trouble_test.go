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
