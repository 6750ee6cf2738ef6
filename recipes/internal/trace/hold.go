package trace

import (
	"cmp"
	"context"
	"log/slog"
	"path"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/locktrace"
)

// Hold reports one hold to the hooks and the log. The nil *Hold reports nothing.
type Hold struct {
	of     locktrace.Acquire
	what   locktrace.Hold
	to     []locktrace.HoldTracer // the hooks' answers
	teller insider.Teller         // calls them; nil if no hook was told of the acquire
	ctx    context.Context        // the first lease's work's, for the log

	revoked sync.Once // for the report that the lock is asked for
	ended   sync.Once // for the report of the end
}

// StartHold reports the beginning of a hold. The argument held is the context
// of its first lease. StartHold returns the context to work in. The Hold is nil
// if the acquire was not reported and the client has no log. Whether the log takes
// the line of a loss is asked at the loss: the question is a call of the user's code.
func StartHold(held context.Context, of locktrace.Acquire, what locktrace.Hold, acquired *Acquire) (*Hold, context.Context) {
	if acquired == nil {
		if framework.Extend(of.Client).Logger().Handler() == slog.DiscardHandler {
			return nil, held
		}
		return &Hold{of: of, what: what, ctx: held}, held
	}
	h := &acquired.hold
	h.of, h.what = of, what
	h.teller = insider.Of(of.Client).NewTeller()
	h.ctx = h.startAll(held, acquired.to)
	return h, h.ctx
}

// startAll tells the hooks that were told of the acquire, and returns the context to
// work in. Each may return a nil tracer, and a nil context.
func (h *Hold) startAll(work context.Context, all []locktrace.AcquireTracer) context.Context {
	for _, acquired := range all {
		if to := acquired.StartHold(h.what); to != nil {
			h.to = append(h.to, to)
			work = cmp.Or(to.Context(work), work)
		}
	}
	return work
}

// isTraced reports whether there is a hook to call.
func (h *Hold) isTraced() bool { return h != nil && h.teller != nil }

// tell makes a call for each hook that has heard of the beginning, and does not
// wait for it.
func (h *Hold) tell(call func(locktrace.HoldTracer)) {
	if h.isTraced() {
		h.teller.Post(func() {
			for _, to := range h.to {
				call(to)
			}
		})
	}
}

// Wait returns when the tracer has got all reports, or when that takes too
// long.
func (h *Hold) Wait(ctx context.Context) {
	if h.isTraced() {
		h.teller.Wait(ctx)
	}
}

// Reentered reports another lease of the hold, and waits for the tracer.
func (h *Hold) Reentered(ctx context.Context) {
	h.tell(locktrace.HoldTracer.Reentered)
	h.Wait(ctx)
}

// Revoked reports, once, that the lock is asked for.
func (h *Hold) Revoked() {
	if h != nil {
		h.revoked.Do(func() { h.tell(locktrace.HoldTracer.Revoked) })
	}
}

// Overrun reports work that goes on, until the returned function is called.
func (h *Hold) Overrun() (over func()) {
	var returned []func() // only the teller's calls use it
	h.tell(func(to locktrace.HoldTracer) {
		if call := to.Overrun(); call != nil {
			returned = append(returned, call)
		}
	})
	return func() {
		if h.isTraced() {
			h.teller.Post(func() {
				for _, call := range returned {
					call()
				}
			})
		}
	}
}

// Lost reports, once, that the hold was lost. Several goroutines may call it.
// It returns when one of them has reported that.
func (h *Hold) Lost(kind locktrace.EndCause, cause error) {
	if h == nil {
		return
	}
	h.ended.Do(func() {
		if kind == locktrace.EndRevoked {
			h.Revoked()
		}
		h.logLoss(kind, cause)
		h.tellEnded(kind, cause)
	})
}

// Released reports that a release is done, or has been left to the client, and
// waits for the tracer.
func (h *Hold) Released(ctx context.Context, err error) {
	if h == nil {
		return
	}
	h.ended.Do(func() {
		h.tellEnded(locktrace.EndReleased, err)
	})
	h.Wait(ctx)
}

func (h *Hold) tellEnded(cause locktrace.EndCause, err error) {
	if h.isTraced() { // the function takes an allocation
		h.tell(func(to locktrace.HoldTracer) { to.Ended(locktrace.HoldEnd{Cause: cause, Err: err}) })
	}
}

// During returns a context for the requests of a release. If the hold is
// traced, its end is reported after them. The returned function waits until the
// tracer has been told of them, or that takes too long.
func (h *Hold) During(ctx context.Context, c *framework.Client) (_ context.Context, wait func()) {
	if h.isTraced() {
		return h.teller.Context(ctx), func() {}
	}
	return Unblocked(ctx, c)
}

// Unblocked returns a context for requests that the client's hooks do not
// delay, if there are any. The returned function waits until the tracer has been
// told of them, or that takes too long.
func Unblocked(ctx context.Context, c *framework.Client) (_ context.Context, wait func()) {
	teller := insider.Of(c).NewTeller()
	if teller == nil {
		return ctx, func() {}
	}
	return teller.Context(ctx), func() { teller.Wait(ctx) }
}

func (h *Hold) logLoss(kind locktrace.EndCause, cause error) {
	level := slog.LevelWarn
	if kind == locktrace.EndClientClosed { // the user wanted that
		level = slog.LevelInfo
	}
	var attrs []slog.Attr
	if h.of.Name != "" {
		attrs = append(attrs, slog.String(semconv.LockName, h.of.Name))
	}
	attrs = append(attrs,
		slog.String(semconv.LockPath, framework.Extend(h.of.Client).FullPath(h.of.Path)),
		slog.String(semconv.LockRecipe, h.of.Recipe),
		slog.String(semconv.LockNode, path.Base(h.what.Node)),
		slog.Int64(semconv.LockToken, h.what.Token),
		slog.String(semconv.LockEnd, string(kind)),
		slog.Any(semconv.Cause, cause))
	framework.Extend(h.of.Client).Logger().LogAttrs(h.ctx, level, "lock lost", attrs...)
}
