package locks

import (
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/internal/seat"
)

// WithMinimumHold keeps the lock of an InterProcessMutex for at least d from its
// grant, also if its holder releases it sooner. So each run of a short job keeps
// others from a second one, although their clocks differ:
//
//	report := locks.NewInterProcessMutex(client, "/cron/report", locks.WithMinimumHold(50*time.Second))
//	lease, err := report.TryAcquire(ctx) // once a minute, in each process
//
// The release ends the lease's context as ever, writes into the node that the
// lock was released and how long it stays, and returns. The client deletes the
// node when d is over. Until then, the lock is held for everybody: a try is
// refused, and an acquire waits. That includes the goroutines of this client,
// whatever object they use, and acquires under the context of the old lease. Who
// comes next has a fencing token of its own. A holder that works longer than d
// releases the lock as if there were no minimum hold.
//
// The minimum hold ends before its time:
//
//   - when somebody asks for the lock by Revoke, or deletes its node. That is also
//     how a holder that has found nothing to do lets others have the lock at once:
//     it calls Revoke for its own node, waits for Lease.Revoked, and releases;
//   - with the session, if that is lost. Nobody is told if the lock was released
//     before. A lock that is lost before its release has no minimum hold. Of a
//     process that crashes, the servers keep the node for the session timeout.
//
// It outlasts framework.Client.Close as far as the session can. Close deletes the
// client's other ephemeral nodes, one by one, but neither this one nor the session.
// That takes longer if there are thousands. The servers end the session when its
// timeout is over. It counts from Close or, if Close reaches no server in its time,
// from the last request before that. So after Close, the lock stays for the session
// timeout, as long as servers round that up: for less than d if the timeout is
// shorter than the rest of d, and for more if it is longer. The same holds if Close
// comes before the release. A process that needs all of a longer d calls Close
// later.
//
// Under state.StandardPolicy, an interruption does not end the minimum hold of a
// lock that was released.
//
// The node says that it is kept in its Identity, see Identity.KeptUntil: so do a
// NotAcquiredError, package inspect and zklock. With WithNodeData, the data stays,
// and the lock looks as if it were held. Processes in Java and with an older version
// of this library find a lock that is held.
//
// d must be positive. WithLocalHandOver and WithCachedLock contradict it. An
// InterProcessMultiLock refuses a mutex that has it: an attempt that does not get
// all locks would keep some of them. Each of these is an error of every acquire,
// a *framework.ConfigError. Read/write locks and semaphores do not have it.
func WithMinimumHold(d time.Duration) MutexOption {
	return mutexOption(func(c *seat.Options) {
		c.MinimumHold = d
		if d <= 0 {
			c.Fault = seat.Invalid("minimum hold", d.String(), "must be positive")
		}
	})
}

// checkHolds returns an error if one of the locks has a minimum hold. A multi-lock
// among them checks its own.
func (l *InterProcessMultiLock) checkHolds(op string) error {
	for _, lock := range l.locks {
		if m, ok := lock.(*InterProcessMutex); ok && m.lock.HasMinimumHold() {
			err := seat.Invalid("lock", printable.String(m.lock.Path()), "has a minimum hold, which no multi-lock keeps")
			return &framework.OpError{Op: op, Path: "multi-lock", Err: err}
		}
	}
	return nil
}
