package framework

import (
	"context"
	"log/slog"
	"time"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/flight"
	"github.com/gocurator/curator/state"
)

// Extension is a client as a recipe sees it: a Client, and the methods that
// only code which is built on a client needs. The locks and leaders of this
// library are built on it, and so can be a recipe of your own.
//
// A recipe keeps to five rules:
//
//   - Its goroutines are started by Go, so that Close ends them and waits.
//   - A node counts only in the session that has created it; Created.Session
//     has that session, and a context that ends when the session does.
//   - Its clean-up is left to DeleteInBackground or to a delete WithGuarantee, and
//     never depends on a caller's context.
//   - A node that keeps others out is not deleted while its owner, who was told
//     of a loss just now, may still stop. Session.SafetyMargin says how long
//     that takes at most.
//   - Hooks are called by a Teller, unless the user's own call waits for it.
//
// Extensions of the same view are equal, and can be keys of a map. The zero
// Extension cannot be used: Extend makes one of a client, which must not be nil.
type Extension struct{ *Client }

var _ clienttrace.Client = Extension{}

// Extend returns the client with the methods for recipes.
func Extend(c *Client) Extension { return Extension{c} }

// Root returns the view that New returned, whatever the namespace: its "/" is
// the chroot of the connection string. Two clients are views of the same one if
// their Roots are equal. Hooks know a client by its Root.
func (e Extension) Root() Extension { return Extension{e.root} }

// FullPath returns the server's name for a path of this view, with the
// namespace and the chroot of the connection string, for logs and access
// control lists. It does not check whether the path is valid.
func (e Extension) FullPath(path string) string { return e.full(path) }

// Go runs f in a goroutine that Close ends, by ending ctx, and waits for. It
// reports whether it did: a closed client starts nothing.
func (e Extension) Go(f func(ctx context.Context)) bool { return e.spawn(f) }

// ErrorPolicy returns the policy set by WithErrorPolicy. Session.Trusted takes
// it.
func (e Extension) ErrorPolicy() state.ErrorPolicy { return e.cfg.policy }

// ServiceName returns the name set by WithServiceName, or the default.
func (e Extension) ServiceName() string { return e.cfg.serviceName }

// Logger returns a logger that writes to the one set by WithLogger, or one that
// discards. It queues the lines, so that nobody waits for a handler that
// blocks; see WithLogger.
func (e Extension) Logger() *slog.Logger { return e.cfg.logger }

// Clock returns the time of Go's clock, and the time for which the machine was
// suspended in addition, as WithSuspendClock tells: Go's clock stands still
// meanwhile. It is for comparisons with other times of this clock.
func (e Extension) Clock() time.Time { return time.Now().Add(e.cfg.suspended()) }

// Context returns a context that ends when the client is closed, with ErrClosed
// as its cause. It is for pauses between requests, which notice that by
// themselves.
func (e Extension) Context() context.Context { return e.ctx }

// HasHooks reports whether the client has hooks, which may hold its operations
// up. A recipe tells hooks of its own events by a [HookKind].
func (e Extension) HasHooks() bool { return e.hooks.Len() > 0 }

// NewTeller returns a Teller that has nothing to call.
func (e Extension) NewTeller() clienttrace.Teller { return e.tellers.New() }

// HasNews reports whether the client has had an answer since it was connected
// last. If not, others may have done much of which LastZxid says nothing.
func (e Extension) HasNews() bool {
	s := e.PresentSession()
	return s != nil && s.link.HasNews()
}

// PresentSession returns the client's newest session, connected or not, or nil if
// there was none yet. It may be over.
func (e Extension) PresentSession() *Session {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.session
}

// Siblings returns the names of a node's children, as Created.Siblings has them:
// without the protected nodes that the client was making when their callers went,
// and that it deletes.
func (e Extension) Siblings(ctx context.Context, parent string) ([]string, error) {
	gone := e.givenUp.under(e.full(parent))
	names, _, err := e.Children(ctx, parent)
	return gone.cutFrom(names), err
}

// Watches returns how many watches the server has for this client, which is no
// more than one for the data and one for the children of each node, however
// many local waiters there are.
func (e Extension) Watches() int {
	s := e.PresentSession()
	if s == nil {
		return 0
	}
	return s.watches.Count()
}

// Recorder returns the client's flight recorder, or nil if WithRecentEvents has
// turned it off. It is for the packages of this library, to whom alone its type
// is known.
func (e Extension) Recorder() *flight.Recorder { return e.recorder }
