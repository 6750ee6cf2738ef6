package recipes

import (
	"context"
	"errors"
	"log/slog"
	"path"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/semconv"
)

// holdTrace tells the tracer and the log of one hold. The nil *holdTrace tells nobody.
type holdTrace struct {
	hold *hold
	of   Acquire
	to   HoldTracer   // nil if there is no tracer
	log  *slog.Logger // for losses
	stop func() bool  // looking out for a loss

	askedFor sync.Once // revocation
	over     sync.Once
}

// follow tells of the hold from here on. The lease is its first, which nobody else has seen yet.
func (h *hold) follow(lease *Lease, of Acquire, t *acquireTrace) {
	logger := of.Client.Logger()
	if t == nil && !logger.Enabled(lease.ctx, slog.LevelWarn) {
		return
	}
	trace := &holdTrace{hold: h, of: of, log: logger}
	if t != nil {
		trace.to = t.to.StartHold(Hold{Node: lease.Path(), Token: h.token})
		lease.ctx = trace.to.Context(lease.ctx)
	}
	trace.stop = context.AfterFunc(h.ctx, trace.ended)
	h.mu.Lock()
	h.trace = trace
	h.mu.Unlock()
	select {
	case <-h.revoked: // already
		trace.revoked()
	default:
	}
}

// followed returns who is told of the hold.
func (h *hold) followed() *holdTrace {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.trace
}

func (t *holdTrace) reentered() {
	if t != nil && t.to != nil {
		t.to.Reentered()
	}
}

func (t *holdTrace) revoked() {
	if t != nil && t.to != nil {
		t.askedFor.Do(t.to.Revoked)
	}
}

func (t *holdTrace) overrun() (returned func()) {
	if t != nil && t.to != nil {
		return t.to.Overrun()
	}
	return func() {}
}

// ended is called when the claim's context has ended. A release is told of when it is done. It returns when the tracer
// has been told, whoever does that.
func (t *holdTrace) ended() {
	if t == nil {
		return
	}
	cause := context.Cause(t.hold.ctx)
	if errors.Is(cause, ErrReleased) {
		return
	}
	t.over.Do(func() {
		end := HoldEnd{Cause: endOfHold(cause), Err: cause}
		if end.Cause == EndRevoked {
			t.revoked()
		}
		t.logLoss(cause)
		if t.to != nil {
			t.to.Ended(end)
		}
	})
}

// releasing is called when a release begins: what comes now is no loss.
func (t *holdTrace) releasing() {
	if t != nil {
		t.stop()
	}
}

// released is called when a release is done, or has been left to the client.
func (t *holdTrace) released(err error) {
	if t == nil {
		return
	}
	t.over.Do(func() {
		if t.to != nil {
			t.to.Ended(HoldEnd{Cause: EndReleased, Err: err})
		}
	})
}

func endOfHold(cause error) EndCause {
	switch {
	case errors.Is(cause, framework.ErrClosed):
		return EndClientClosed
	case errors.Is(cause, framework.ErrSessionLost):
		return EndSessionLost
	case errors.Is(cause, framework.ErrSuspended):
		return EndSuspended
	case errors.Is(cause, ErrNodeDeleted):
		return EndNodeDeleted
	case errors.Is(cause, ErrRevoked):
		return EndRevoked
	default:
		return EndOther
	}
}

func (t *holdTrace) logLoss(cause error) {
	attrs := make([]slog.Attr, 0, 8)
	if t.of.Name != "" {
		attrs = append(attrs, slog.String(semconv.LockName, t.of.Name))
	}
	attrs = append(attrs,
		slog.String(semconv.LockPath, t.of.Client.FullPath(t.of.Path)),
		slog.String(semconv.LockRecipe, t.of.Recipe),
		slog.String(semconv.LockNode, path.Base(t.hold.nodes[0].Path)),
		slog.Int64(semconv.LockToken, t.hold.token),
		slog.String(semconv.LockEnd, string(endOfHold(cause))),
		slog.Any(semconv.Cause, cause))
	level := slog.LevelWarn
	if endOfHold(cause) == EndClientClosed { // as somebody wanted
		level = slog.LevelInfo
	}
	t.log.LogAttrs(context.Background(), level, "lock lost", attrs...)
}
