package trace

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"path"
	"sync"
	"sync/atomic"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/locktrace"
)

var hookHoldEnded = framework.NewHookKind[locktrace.HookHoldEnded]()

// Hold reports one hold to the hooks and the log. The nil *Hold reports nothing.
type Hold struct {
	of   locktrace.Acquire
	what locktrace.Hold
	to   []locktrace.HoldTracer // the tracers that the hooks have returned
	ctx  context.Context        // the context of the first lease's work, for the log

	revoked sync.Once    // for the report of the request to give the lock up
	ended   sync.Once    // for the report of the end
	queued  atomic.Int32 // calls that the emitter has not made yet, plus over after the end is reported
}

// The constant over makes Hold.queued negative. After the end, only Overrun is called.
const over = math.MinInt32 / 2

// StartHold reports the beginning of a hold. The argument held is the context of the
// first lease, and by is the hold's acquire. StartHold returns the context for the work.
// The *Hold is nil if the acquire was not traced, and the client has neither a log nor a
// hook for the end.
func StartHold(held context.Context, of locktrace.Acquire, what locktrace.Hold, by *Acquire) (*Hold, context.Context) {
	if by == nil {
		if !event.IsLogged(of.Client) && len(hookHoldEnded.Of(of.Client)) == 0 {
			return nil, held
		}
		return &Hold{of: of, what: what, ctx: held}, held
	}
	h := &by.hold
	h.of, h.what, h.ctx = of, what, held
	for _, t := range by.to { // a hook may return a nil tracer, and a nil context
		if to := t.StartHold(what); to != nil {
			h.to = append(h.to, to)
			h.ctx = cmp.Or(to.Context(h.ctx), h.ctx)
		}
	}
	return h, h.ctx
}

// isTraced reports whether the hold has a tracer.
func (h *Hold) isTraced() bool { return h != nil && len(h.to) > 0 }

// tell lets the client's emitter call each tracer, unless the hold has ended.
func (h *Hold) tell(call func(locktrace.HoldTracer)) {
	if h.isTraced() {
		h.emit(func() {
			for _, to := range h.to {
				if h.queued.Load() >= 0 {
					call(to)
				}
			}
		})
	}
}

// emit lets the client's emitter make a call.
func (h *Hold) emit(call func()) {
	h.queued.Add(1)
	insider.Of(h.of.Client).Emit(func() {
		call()
		h.queued.Add(-1)
	})
}

// Reentered reports another lease of the hold.
func (h *Hold) Reentered() { h.tell(locktrace.HoldTracer.Reentered) }

// Revoked reports, once, that another client asks for the lock.
func (h *Hold) Revoked() {
	if h != nil {
		h.revoked.Do(func() { h.tell(locktrace.HoldTracer.Revoked) })
	}
}

// Overrun reports work that continues after the hold. Call the returned function when the
// work returns.
func (h *Hold) Overrun() (over func()) {
	var returned []func() // used only by the emitter's calls
	if !h.isTraced() {
		return func() {}
	}
	h.emit(func() {
		for _, to := range h.to {
			if call := to.Overrun(); call != nil {
				returned = append(returned, call)
			}
		}
	})
	return func() {
		h.emit(func() {
			for _, call := range returned {
				call()
			}
		})
	}
}

// Lost reports, once, that the hold was lost. Several goroutines may call it. It returns
// after the report of the first call.
func (h *Hold) Lost(kind locktrace.EndCause, cause error) {
	if h == nil {
		return
	}
	h.ended.Do(func() {
		if kind == locktrace.EndRevoked {
			h.Revoked()
		}
		h.logLoss(kind, cause)
		h.emitEnded(kind, cause)
	})
}

// Released reports that a release is done, or continues in the background. The hooks are
// called before Released returns, unless the emitter still has other calls of this hold
// to make.
func (h *Hold) Released(err error) {
	if h == nil {
		return
	}
	inPlace := false
	h.ended.Do(func() {
		if inPlace = h.queued.CompareAndSwap(0, over); !inPlace {
			h.emitEnded(locktrace.EndReleased, err)
		}
	})
	if inPlace {
		h.tellEnded(locktrace.EndReleased, err)
	}
}

func (h *Hold) emitEnded(cause locktrace.EndCause, err error) {
	if h.isHeeded() {
		h.emit(func() {
			h.queued.Add(over)
			h.tellEnded(cause, err)
		})
	}
}

// isHeeded reports whether a hook must be called at the end.
func (h *Hold) isHeeded() bool { return len(h.to) > 0 || len(hookHoldEnded.Of(h.of.Client)) > 0 }

func (h *Hold) tellEnded(cause locktrace.EndCause, err error) {
	end := locktrace.HoldEnd{Cause: cause, Err: err}
	for _, to := range h.to {
		to.Ended(end)
	}
	for _, hook := range hookHoldEnded.Of(h.of.Client) {
		hook.HoldEnded(h.of, h.what, end)
	}
}

func (h *Hold) logLoss(kind locktrace.EndCause, cause error) {
	lost := event.Kind{Warn: "lock lost"}
	if kind == locktrace.EndClientClosed { // the user has closed the client
		lost = event.Kind{Info: lost.Warn}
	}
	attrs := []slog.Attr{
		slog.String(semconv.LockRecipe, h.of.Recipe),
		slog.String(semconv.LockNode, path.Base(h.what.Node)),
		slog.Int64(semconv.LockToken, h.what.Token),
		slog.String(semconv.LockEnd, string(kind)),
		event.Cause(cause),
	}
	if h.of.Name != "" {
		attrs = append(attrs, slog.String(semconv.LockName, h.of.Name))
	}
	of := event.OfLock(h.of.Client, h.of.Path)
	of.Work = h.ctx
	of.Emit(lost, nil, attrs...)
}
