// Package fence protects a resource from a process that has lost its lock and
// does not know it. Such a process was stopped, by the garbage collector, its
// debugger or its hypervisor, and its next request comes after the requests of
// the next holder. No lock service can prevent that. The resource can, because
// the fencing tokens of leases grow from holder to holder.
//
// The resource remembers the largest token that it has seen, and refuses
// requests with a smaller one:
//
//	var guard fence.Guard // beside the data; all requests pass it
//
//	func (s *Store) Put(token int64, item Item) error {
//		return s.guard.Do(token, func() error { return s.put(item) })
//	}
//
// A Guard lives in the memory of one process. Some resources need more:
//
//   - A resource that restarts, or that has several instances, must keep the
//     largest token with the data, and compare and write both in one step. A
//     database does that with "... WHERE token <= ?".
//   - Data in ZooKeeper itself needs no token. A transaction with the checks of
//     the lease, from Lease.Checks, is carried out only while the lock is held.
package fence

import (
	"errors"
	"fmt"
	"sync"
)

// ErrStale is matched by the error of a request whose token is smaller than one
// that was seen before. The sender has lost the lock.
var ErrStale = errors.New("stale fencing token")

// Guard admits requests whose token is the largest that it has seen, or larger.
// The zero Guard has seen none. It is safe for concurrent use.
type Guard struct {
	// mu protects newest. Do holds it while the caller's function runs, so that
	// no two requests run at once.
	mu     sync.Mutex
	newest int64
}

// NewGuard returns a Guard that has seen a token already. A resource that has
// kept its newest token makes its Guard with it after a restart.
func NewGuard(newest int64) *Guard { return &Guard{newest: newest} }

// Do calls f and returns the error of f. If a larger token was seen before, it
// does not call f, and returns an error that matches ErrStale and names both
// tokens.
//
// No other request is admitted while f runs. Otherwise an older request could
// still be at work when a newer one begins. For the same reason f must not call
// the Guard: it would wait for itself.
//
// The token counts as seen even if f fails. A nil f is an error, and its token
// does not count.
func (g *Guard) Do(token int64, f func() error) error {
	if f == nil {
		return errors.New("do: the function must not be nil")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if token < g.newest {
		return fmt.Errorf("%w: %d, after %d", ErrStale, token, g.newest)
	}
	g.newest = token
	return f()
}

// Newest returns the largest token seen, to be kept with the data. It waits for
// a request that is under way.
func (g *Guard) Newest() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.newest
}
