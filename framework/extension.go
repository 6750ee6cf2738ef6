package framework

import (
	"context"
	"log/slog"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/state"
)

// Extension is a client as a recipe sees it: a Client, and the methods that
// only code which is built on a client needs. A recipe of your own can be built on
// it, as the locks and leaders of this library are.
//
// A recipe keeps to these rules:
//
//   - Its goroutines are started by Go, so that Close ends them and waits.
//   - A node counts only in the session that has created it; Created.Session
//     has that session, and a context that ends when the session does.
//   - Its clean-up is left to DeleteInBackground or to a delete WithGuarantee, and
//     never depends on a caller's context.
//   - A node that keeps others out is not deleted while its owner, who was told
//     of a loss just now, may still stop. Session.SafetyMargin says how long
//     that takes at most.
//   - It calls hooks and the log handler with its mutexes free, and after it has done
//     what protects.
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

// Logger returns the logger set by WithLogger, or one that discards.
func (e Extension) Logger() *slog.Logger { return e.cfg.logger }

// Context returns a context that ends when the client is closed, with ErrClosed
// as its cause. It is for pauses between requests, which notice that by
// themselves.
func (e Extension) Context() context.Context { return e.ctx }

// PresentSession returns the client's newest session, connected or not, or nil if
// there was none yet. It may be over.
func (e Extension) PresentSession() *Session { return e.newest() }
