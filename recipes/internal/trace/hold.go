package trace

import (
	"cmp"
	"context"
	"log/slog"
	"path"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/flight"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/locktrace"
)

var hookHoldEnded = framework.NewHookKind[locktrace.HookHoldEnded]()

// Hold reports one hold to the hooks, the flight recorder and the log. The nil
// *Hold reports nothing.
type Hold struct {
	record *flight.Record // nil if there is none
	of     locktrace.Acquire
	what   locktrace.Hold
	to     []locktrace.HoldTracer // the hooks' answers
	ctx    context.Context        // the first lease's work's, for the log

	revoked sync.Once // for the report that the lock is asked for
	ended   sync.Once // for the report of the end
	over    bool      // Ended was called; only the emitter's calls use it
}

// StartHold reports the beginning of a hold. The argument held is the context
// of its first lease. StartHold returns the context to work in. The Hold is nil
// if the acquire was not reported, and the client has no log and no hook for the end.
func StartHold(held context.Context, of locktrace.Acquire, what locktrace.Hold, acquired *Acquire) (*Hold, context.Context) {
	if acquired == nil {
		if framework.Extend(of.Client).Logger().Handler() == slog.DiscardHandler && len(hookHoldEnded.Of(of.Client)) == 0 {
			return nil, held
		}
		return &Hold{of: of, what: what, ctx: held}, held
	}
	h := &acquired.hold
	h.record, h.of, h.what, h.ctx = &acquired.record, of, what, held
	h.ctx = h.startAll(held, acquired.to)
	h.record.Hold(path.Base(what.Node), what.Token)
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
func (h *Hold) isTraced() bool { return h != nil && len(h.to) > 0 }

// tell has the client's emitter make a call of each tracer, unless the hold has ended.
func (h *Hold) tell(call func(locktrace.HoldTracer)) {
	if h.isTraced() {
		insider.Of(h.of.Client).Emit(func() {
			if h.over {
				return
			}
			for _, to := range h.to {
				call(to)
			}
		})
	}
}

// Reentered reports another lease of the hold.
func (h *Hold) Reentered() { h.tell(locktrace.HoldTracer.Reentered) }

// Revoked reports, once, that the lock is asked for.
func (h *Hold) Revoked() {
	if h != nil {
		h.revoked.Do(func() {
			h.record.Revoked()
			h.tell(locktrace.HoldTracer.Revoked)
		})
	}
}

// Overrun reports work that goes on, until the returned function is called.
func (h *Hold) Overrun() (over func()) {
	var returned []func() // only the emitter's calls use it
	if !h.isTraced() {
		return func() {}
	}
	emit := insider.Of(h.of.Client).Emit
	emit(func() {
		for _, to := range h.to {
			if call := to.Overrun(); call != nil {
				returned = append(returned, call)
			}
		}
	})
	return func() {
		emit(func() {
			for _, call := range returned {
				call()
			}
		})
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
		h.record.Lost(cause)
		h.logLoss(kind, cause)
		h.tellEnded(kind, cause)
	})
}

// Released reports that a release is done, or has been left to the client.
func (h *Hold) Released(err error) {
	if h == nil {
		return
	}
	h.ended.Do(func() {
		h.record.Released(err)
		h.tellEnded(locktrace.EndReleased, err)
	})
}

func (h *Hold) tellEnded(cause locktrace.EndCause, err error) {
	those := hookHoldEnded.Of(h.of.Client)
	if len(h.to) == 0 && len(those) == 0 {
		return
	}
	insider.Of(h.of.Client).Emit(func() {
		h.over = true
		end := locktrace.HoldEnd{Cause: cause, Err: err}
		for _, to := range h.to {
			to.Ended(end)
		}
		for _, hook := range those {
			hook.HoldEnded(h.of, h.what, end)
		}
	})
}

// Releasing notes that the nodes are about to be handed over or deleted.
func (h *Hold) Releasing() {
	if h != nil {
		h.record.Releasing()
	}
}

// Gone notes that nothing is left of the hold.
func (h *Hold) Gone() {
	if h != nil {
		h.record.Gone()
	}
}

func (h *Hold) logLoss(kind locktrace.EndCause, cause error) {
	logger := framework.Extend(h.of.Client).Logger()
	if logger.Handler() == slog.DiscardHandler {
		return
	}
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
	insider.Of(h.of.Client).Emit(func() { logger.LogAttrs(h.ctx, level, "lock lost", attrs...) })
}
