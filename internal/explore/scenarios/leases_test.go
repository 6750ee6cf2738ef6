package scenarios

import (
	"context"
	"errors"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
)

// acquiring is an acquire of some lock.
type acquiring func(ctx context.Context) (*locks.Lease, error)

// take acquires a lock in a call that the search may end. The lease is nil if
// there is an error. An acquire that fails has not acquired, and must not leave
// that open.
func take(w *explore.World, a *explore.Actor, what string, acquire acquiring) (lease *locks.Lease, err error) {
	err = a.Call(what, func(ctx context.Context) (err error) {
		lease, err = acquire(ctx)
		checkAcquire(ctx, w, a, what, lease, err)
		return err
	})
	return lease, err
}

// try is take for an acquire that does not wait. A refusal is its answer, also if
// its context ends while it cleans up, and so is that it asks for an upgrade.
func try(w *explore.World, a *explore.Actor, what string, acquire acquiring) (lease *locks.Lease, err error) {
	_ = a.Call(what, func(ctx context.Context) error {
		lease, err = acquire(ctx)
		checkAcquire(ctx, w, a, what, lease, err)
		if errors.Is(err, locks.ErrNotAcquired) || errors.Is(err, locks.ErrUpgrade) {
			return nil
		}
		return err
	})
	return lease, err
}

func checkAcquire(ctx context.Context, w *explore.World, a *explore.Actor, what string, lease *locks.Lease, err error) {
	switch {
	case (lease == nil) != (err != nil):
		w.Fail("%s: %s returns the lease %v with the error %v", a.Name(), what, lease, err)
	case errors.Is(err, framework.ErrOutcomeUnknown) && ctx.Err() == nil:
		w.Fail("%s: %s leaves open whether it has acquired: %v", a.Name(), what, err)
	}
}

// give releases a lease in a call that the search may end. That is no error,
// unless the lease was lost. It does not wait for a connection.
func give(w *explore.World, a *explore.Actor, lease *locks.Lease) {
	lost := context.Cause(lease.Context())
	begun, connected := time.Now(), a.Client().State().IsConnected()
	var err error
	_ = a.Call("release", func(ctx context.Context) error {
		err = lease.Release(ctx)
		if lost != nil && errors.Is(err, lost) {
			return nil // that is its answer
		}
		return err
	})
	if !connected && time.Since(begun) > 0 {
		w.Fail("%s: release waits for a connection", a.Name())
	}
	if lost == nil && err != nil && !isEnd(a, err) || lost != nil && !errors.Is(err, lost) {
		w.Fail("%s: release returns %v, and the lease has ended with %v", a.Name(), err, lost)
	}
	if now := context.Cause(lease.Context()); now == nil || lost != nil && now != lost {
		w.Fail("%s: the cause of the lease's end is first %v and then %v", a.Name(), lost, now)
	}
}

// checkLoss looks at why a lease that its holder has not released has ended, if
// it has.
func checkLoss(w *explore.World, a *explore.Actor, lease *locks.Lease, reasons ...error) {
	cause := context.Cause(lease.Context())
	if a.Closed() {
		reasons = append(reasons, framework.ErrClosed)
	}
	for _, r := range append(reasons, nil, framework.ErrSessionLost) {
		if errors.Is(cause, r) {
			return
		}
	}
	w.Fail("%s: the lease has ended with %v", a.Name(), cause)
}

// pass lets time pass, or the lease end.
func pass(lease context.Context, d time.Duration) {
	select {
	case <-lease.Done():
	case <-time.After(d):
	}
}
