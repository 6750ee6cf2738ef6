package framework

import (
	"context"
	"log/slog"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/state"
)

// Extension is a Client with additional methods for code that builds on a client. You
// can build your own recipe on an Extension, as this library's locks and leaders do.
//
// A recipe must follow these rules:
//
//   - It starts its goroutines by Go, so that Close stops them and waits for them.
//   - A node counts only in the session that has created it; Created.Session
//     has that session, and a context that ends when the session does.
//   - It leaves its clean-up to DeleteInBackground or to a delete WithGuarantee, which
//     never depends on a caller's context.
//   - After a loss, it does not delete a node that excludes other clients before the
//     owner had time to stop. Session.SafetyMargin is the longest time that this takes.
//   - It calls hooks and the log handler without holding a mutex, and only after
//     everything that protects the lock.
//
// Extensions of the same view are equal, and can be keys of a map. The zero Extension
// cannot be used; Extend returns an Extension of a client, which must not be nil.
type Extension struct{ *Client }

var _ clienttrace.Client = Extension{}

// Extend returns the client with the methods for recipes.
func Extend(c *Client) Extension { return Extension{c} }

// Root returns the view that New has returned, without a namespace: its "/" is the
// chroot of the connection string. Two clients are views of the same client if their
// Roots are equal. Hooks identify a client by its Root.
func (e Extension) Root() Extension { return Extension{e.root} }

// FullPath returns the server's name for a path of this view, with the
// namespace and the chroot of the connection string, for logs and access
// control lists. It does not check whether the path is valid.
func (e Extension) FullPath(path string) string { return e.full(path) }

// Go runs f in a goroutine. Close ends ctx and waits for f. Go returns false if the
// client is closed and f was not started.
func (e Extension) Go(f func(ctx context.Context)) bool { return e.spawn(f) }

// ErrorPolicy returns the policy set by WithErrorPolicy. Session.Trusted takes
// it.
func (e Extension) ErrorPolicy() state.ErrorPolicy { return e.cfg.policy }

// ServiceName returns the name set by WithServiceName, or the default.
func (e Extension) ServiceName() string { return e.cfg.serviceName }

// Logger returns the logger set by WithLogger, or one that discards.
func (e Extension) Logger() *slog.Logger { return e.cfg.logger }

// Context returns a context that ends when the client is closed, with ErrClosed as its
// cause. Use the context for pauses between requests; requests themselves notice that
// the client was closed.
func (e Extension) Context() context.Context { return e.ctx }

// PresentSession returns the client's newest session, connected or not, or nil if there
// was none yet. The session may be over.
func (e Extension) PresentSession() *Session { return e.newest() }
