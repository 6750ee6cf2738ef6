// Package fence protects a resource from a process that has lost its lock without
// noticing. The garbage collector, a debugger or a hypervisor has paused such a
// process, and its next request arrives after requests of the next holder. No lock
// service can prevent that. The resource can, because the fencing tokens of leases grow
// from holder to holder.
//
// The resource remembers the largest token seen so far, and refuses requests with a
// smaller one:
//
//	var guard fence.Guard // beside the data; all requests pass it
//
//	func (s *Store) Put(token int64, item Item) error {
//		return s.guard.Do(token, func() error { return s.put(item) })
//	}
//
// A Guard lives in the memory of one process. A resource that restarts, or that has
// several instances, must keep the largest token with the data, and compare and write
// both in one step:
//
//   - Module contrib/fencesql does that in SQL databases.
//   - Data in ZooKeeper itself needs no token. The servers carry out a transaction with
//     the checks from Lease.Checks only while the lock is held. All writes of a client
//     from package fencezk are such transactions.
//   - Package fencehttp and module contrib/fencegrpc carry the token of the caller's
//     lease from service to service, and check the token in a [Store] before they
//     handle a request. [Incoming] says what this check does not fence.
package fence

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gocurator/curator/internal/printable"
)

// ErrStale is matched by the error of a request whose token is smaller than an earlier
// one. The sender has lost the lock.
var ErrStale = errors.New("stale fencing token")

// StaleError is the error of a request whose token is smaller than an earlier one. It
// matches ErrStale. Unknown fields are zero. In JSON, the numbers are strings.
type StaleError struct {
	Token int64  `json:"token,string"` // the token of the refused lease
	Owner string `json:"owner"`        // the path of the refused lease

	NewestToken int64  `json:"newestToken,string"` // the largest token seen so far
	NewestOwner string `json:"newestOwner"`        // the path of the lease with that token
}

// Error returns a text such as: stale fencing token: 6 of /lock/a, after 7 of /lock/b.
func (e *StaleError) Error() string {
	text := ErrStale.Error() + ": " + stamp{e.Token, e.Owner}.String()
	if e.NewestToken != 0 {
		text += ", after " + stamp{e.NewestToken, e.NewestOwner}.String()
	}
	return text
}

// Unwrap returns ErrStale.
func (e *StaleError) Unwrap() error { return ErrStale }

// stamp is a token and, if known, the path of its holder's node.
type stamp struct {
	token int64
	owner string
}

func (s stamp) String() string {
	if s.owner == "" {
		return fmt.Sprint(s.token)
	}
	return fmt.Sprintf("%d of %s", s.token, printable.String(s.owner))
}

// Guard admits a request unless an earlier request had a larger token. The zero Guard
// has seen no token. A Guard is safe for concurrent use.
//
// Do is for one resource. Raise makes a Guard a Store in memory, which forgets its
// tokens when the process ends.
type Guard struct {
	// mu protects newest. Do holds mu while the caller's function runs, so that no two
	// requests run at the same time.
	mu     sync.Mutex
	newest map[string]stamp // by resource; Do uses ""
}

var _ Store = (*Guard)(nil)

// NewGuard returns a Guard that has already seen a token. A resource that has stored
// its newest token passes it to NewGuard after a restart.
func NewGuard(newest int64) *Guard { return &Guard{newest: map[string]stamp{"": {token: newest}}} }

// Do calls f and returns the error of f. If a larger token was seen before, it
// does not call f, and returns an error that matches ErrStale and names both
// tokens.
//
// The Guard admits no other request while f runs. Otherwise an older request could
// still be running when a newer one begins. So f must not call the Guard, or it would
// wait for itself.
//
// The token counts as seen even if f fails. For a nil f, Do returns an error and
// ignores the token.
func (g *Guard) Do(token int64, f func() error) error {
	if f == nil {
		return errors.New("do: the function must not be nil")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.raiseLocked("", stamp{token: token}); err != nil {
		return err
	}
	return f()
}

// Raise implements Store. It waits for a running Do, and ignores ctx.
func (g *Guard) Raise(_ context.Context, resource string, lease Lease) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.raiseLocked(resource, stamp{lease.FencingToken(), lease.Path()})
}

func (g *Guard) raiseLocked(resource string, s stamp) error {
	if newest := g.newest[resource]; s.token < newest.token {
		return &StaleError{s.token, s.owner, newest.token, newest.owner}
	}
	if g.newest == nil {
		g.newest = map[string]stamp{}
	}
	g.newest[resource] = s
	return nil
}

// Newest returns the largest token that Do has seen, which the resource should store
// with the data. Newest waits for a running request.
func (g *Guard) Newest() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.newest[""].token
}
