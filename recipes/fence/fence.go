// Package fence keeps a resource safe from holders of a lock that have lost it and do not know: from a process that was
// stopped, whose next request comes after its successor's. No lock service can prevent that; the resource can, by the
// fencing tokens of leases, which grow from holder to holder.
//
// The resource remembers the largest token that it has seen, and refuses smaller ones:
//
//	var guard fence.Guard // beside the data, where all requests for it pass
//
//	func (s *Store) Put(token int64, item Item) error {
//		return s.guard.Do(token, func() error { return s.put(item) })
//	}
//
// A resource with several instances, or one that restarts, must keep the largest token with the data, and compare and
// write both in one step. A database does that with "... WHERE token <= ?". Data in ZooKeeper itself needs no token: a
// transaction with the checks of the lease, from Lease.Checks, is carried out only while the lock is held.
package fence

import (
	"errors"
	"fmt"
	"sync"
)

// ErrStale is matched by the error of a request whose token is not the newest: its sender has lost the lock.
var ErrStale = errors.New("stale fencing token")

// StaleError says which token was refused, and which larger one had been seen before.
type StaleError struct{ Token, Newest int64 }

// Error names both tokens.
func (e *StaleError) Error() string {
	return fmt.Sprintf("%v: %d, after %d", ErrStale, e.Token, e.Newest)
}

// Is reports whether target is ErrStale.
func (e *StaleError) Is(target error) bool { return target == ErrStale }

// Guard admits requests with the newest token it has seen, or a newer one. The zero Guard has seen none. It is safe for
// concurrent use.
type Guard struct {
	mu     sync.Mutex // protects newest; held while the work of Do is done, which is the point of it
	newest int64
}

// NewGuard returns a Guard that has seen a token, as a resource remembers it from before a restart.
func NewGuard(newest int64) *Guard { return &Guard{newest: newest} }

// Do calls f, and returns what f returns, unless the token is older than one that was seen before: then it returns a
// *StaleError. No other request is admitted while f runs, since an older one might still be at work when a newer one
// begins. f must not call the Guard.
func (g *Guard) Do(token int64, f func() error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if token < g.newest {
		return &StaleError{token, g.newest}
	}
	g.newest = token
	return f()
}

// Newest returns the largest token seen, to be kept with the data. It waits for a request under way.
func (g *Guard) Newest() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.newest
}
