package certmagic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

var errNotHeld = errors.New("this storage does not hold the lock")

// hold is a lock of this Storage, from the start of its acquire until Unlock, even if
// the lock is lost in between. If another goroutine could take a lost lock before its
// Unlock, that Unlock would free the other goroutine's lock.
type hold struct {
	scope scope
	lease *locks.Lease  // nil until the lock is acquired
	freed chan struct{} // closed when another goroutine may take the lock
}

// Lock waits for the lock with this name and takes it. The name may contain any
// characters. No other process gets the lock before Unlock, unless the lock is lost
// with the session. No other goroutine gets the lock from this Storage before Unlock,
// even if the lock is lost. If ctx ends or the client is closed, Lock returns an error.
//
// From Lock to Unlock, the lock guards keys. A Store or a Delete of such a key by this
// Storage is a transaction, which also checks that the lock's node exists. If the node
// is gone, the call returns ErrLockLost. So such a write cannot follow a write of the
// next holder. A lock guards:
//
//   - the key with the lock's name, and all keys below that key;
//   - for certmagic's lock of a certificate or an ACME account, its keys: after the
//     second component, such a key has a component that is the name of the certificate
//     or account as certmagic writes it, with or without an extension.
//
// certmagic's locks for its clean-up and for renewal information (ARI) guard no key.
// The Storage does not check writes of other keys.
func (s *Storage) Lock(ctx context.Context, name string) error {
	if err := s.lock(withoutCause(ctx), name); err != nil {
		return failed(ctx, "lock", name, err)
	}
	return nil
}

func (s *Storage) lock(ctx context.Context, name string) error {
	for {
		h, mine := s.reserve(name)
		if mine {
			return s.acquire(ctx, name, h, (*locks.InterProcessMutex).Acquire)
		}
		closed := framework.Extend(s.client).Context()
		select {
		case <-h.freed:
		case <-ctx.Done():
			return fmt.Errorf("another goroutine has it: %w", ctx.Err())
		case <-closed.Done():
			return context.Cause(closed)
		}
	}
}

// TryLock is Lock without waiting. It returns false if another process or
// goroutine has the lock, or another goroutine waits for it in this Storage.
func (s *Storage) TryLock(ctx context.Context, name string) (bool, error) {
	h, mine := s.reserve(name)
	if !mine {
		return false, nil
	}
	err := s.acquire(withoutCause(ctx), name, h, (*locks.InterProcessMutex).TryAcquire)
	switch {
	case err == nil:
		return true, nil
	case is(err, locks.ErrNotAcquired) && ctx.Err() == nil:
		return false, nil
	}
	return false, failed(ctx, "lock", name, err)
}

// Unlock gives up the lock. Unlock returns an error in three cases:
//
//   - This Storage does not hold the lock.
//   - The client knows that the lock was lost. The error then matches ErrLockLost and the
//     reason of the loss, from package framework or locks.
//   - The server refuses to delete the lock's node. The node then stays until the session
//     ends.
//
// After any error, the Storage no longer holds the lock. Unlock never frees the lock of a
// later holder.
func (s *Storage) Unlock(ctx context.Context, name string) error {
	lease := s.take(name)
	if lease == nil {
		return fmt.Errorf("unlock %q: %w", name, errNotHeld)
	}
	switch err := lease.Release(withoutCause(ctx)); {
	case err == nil:
		return nil
	case framework.IsRefusal(err):
		return fmt.Errorf("unlock %q: %w", name, err)
	}
	return lockLost(name, context.Cause(lease.Context()))
}

// RenewLockLease is for certmagic, which calls it before each attempt to obtain a
// certificate; days may pass between two attempts. If the lock is held, RenewLockLease does
// nothing. If the lock was lost, RenewLockLease waits for the lock and takes it again, as
// Lock does, because otherwise every attempt would end with ErrLockLost. Values that the
// caller has read before may then be out of date; certmagic reads them again.
//
// The duration has no effect. RenewLockLease returns an error if this Storage does not hold
// the lock.
func (s *Storage) RenewLockLease(ctx context.Context, name string, _ time.Duration) error {
	if err := s.renew(withoutCause(ctx), name); err != nil {
		return failed(ctx, "renew", name, err)
	}
	return nil
}

func (s *Storage) renew(ctx context.Context, name string) error {
	h, lease := s.holdOf(name)
	if lease == nil {
		return errNotHeld
	}
	if lease.Context().Err() == nil {
		return nil
	}
	_ = lease.Release(ctx) // returns the loss
	next, err := s.mutex(name).Acquire(ctx)
	if err != nil {
		return err
	}
	if !s.replace(name, h, lease, next) { // another goroutine called Unlock meanwhile
		_ = next.Release(ctx)
		return errNotHeld
	}
	return nil
}

// reserve returns the hold on a lock. If there was none, reserve creates the hold and
// returns mine = true.
func (s *Storage) reserve(name string) (h *hold, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h, taken := s.held[name]; taken {
		return h, false
	}
	h = &hold{scope: scopeOf(name), freed: make(chan struct{})}
	s.held[name] = h
	return h, true
}

// acquire acquires the lock of a new hold. If that fails, acquire removes the hold.
func (s *Storage) acquire(ctx context.Context, name string, h *hold,
	by func(*locks.InterProcessMutex, context.Context) (*locks.Lease, error),
) error {
	var lease *locks.Lease
	defer func() { // user code, such as a hook, may panic
		s.mu.Lock()
		defer s.mu.Unlock()
		if h.lease = lease; lease == nil {
			s.freeLocked(name, h)
		}
	}()
	lease, err := by(s.mutex(name), ctx)
	return err
}

// holdOf returns the hold on an acquired lock, and its lease.
func (s *Storage) holdOf(name string) (*hold, *locks.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.held[name]
	if h == nil {
		return nil, nil
	}
	return h, h.lease
}

// replace gives a hold a new lease, unless the hold has ended or has already another
// lease.
func (s *Storage) replace(name string, h *hold, former, next *locks.Lease) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[name] != h || h.lease != former {
		return false
	}
	h.lease = next
	return true
}

// take ends the hold on a lock, and returns its lease, or nil if the lock was not
// acquired.
func (s *Storage) take(name string) *locks.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.held[name]
	if h == nil || h.lease == nil {
		return nil
	}
	s.freeLocked(name, h)
	return h.lease
}

func (s *Storage) freeLocked(name string, h *hold) {
	delete(s.held, name)
	close(h.freed)
}

// mutex returns the mutex with this name.
func (s *Storage) mutex(name string) *locks.InterProcessMutex {
	return locks.NewInterProcessMutex(s.client, s.folder("locks")+"/"+escape(name), locks.WithName("certmagic"))
}
