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
	told *framework.Teller // calls the tracer; nil if there is none
	to   HoldTracer        // for those calls only, as it may come late
	log  *slog.Logger      // for losses
	ctx  context.Context   // of the first lease's work, for the log
	stop func() bool       // looking out for a loss

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
		trace.told = t.teller
		if trace.told == nil {
			trace.told = of.Client.NewTeller()
		}
		lease.workIn(trace.start(t, lease))
	}
	trace.ctx = lease.held
	trace.stop = h.afterEnd(trace.ended)
	h.mu.Lock()
	h.trace = trace
	h.mu.Unlock()
	select {
	case <-h.revoked: // already
		trace.revoked()
	default:
	}
}

// start tells the tracer of the hold, and returns the context for the lease's work.
func (t *holdTrace) start(acquired *acquireTrace, lease *Lease) context.Context {
	what, held := Hold{Node: lease.Path(), Token: t.hold.token}, lease.held
	work := held
	told := acquired.tell(func(to AcquireTracer) {
		t.to = to.StartHold(what)
		work = t.to.Context(held)
	})
	if !told {
		return held
	}
	return work
}

// tell calls the tracer, and does not wait for it.
func (t *holdTrace) tell(call func(HoldTracer)) {
	if t == nil || t.told == nil {
		return
	}
	t.told.Post(func() {
		if t.to != nil { // or it never heard of the beginning
			call(t.to)
		}
	})
}

// during is unblocked for the operations of a release. If the hold is traced, its end is told behind them.
func (t *holdTrace) during(ctx context.Context, c *framework.Client) (_ context.Context, wait func()) {
	if t != nil && t.told != nil {
		return t.told.Context(ctx), func() {}
	}
	return unblocked(ctx, c)
}

// unblocked returns a context for operations that the client's tracer does not hold up, if there is one. The function
// waits until the tracer has been told of them, or that takes too long.
func unblocked(ctx context.Context, c *framework.Client) (_ context.Context, wait func()) {
	if c.Tracer() == nil {
		return ctx, func() {}
	}
	teller := c.NewTeller()
	return teller.Context(ctx), func() { teller.Wait(ctx) }
}

// wait returns when the tracer has been told, or when that takes too long.
func (t *holdTrace) wait(ctx context.Context) {
	if t != nil && t.told != nil {
		t.told.Wait(ctx)
	}
}

// followed returns who is told of the hold.
func (h *hold) followed() *holdTrace {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.trace
}

func (t *holdTrace) reentered(ctx context.Context) {
	if t != nil {
		t.tell(HoldTracer.Reentered)
		t.wait(ctx)
	}
}

func (t *holdTrace) revoked() {
	if t != nil {
		t.askedFor.Do(func() { t.tell(HoldTracer.Revoked) })
	}
}

// overrun tells of work that goes on, until the function returned is called.
func (t *holdTrace) overrun() (over func()) {
	returned := func() {}
	t.tell(func(to HoldTracer) { returned = to.Overrun() })
	return func() { t.tell(func(HoldTracer) { returned() }) }
}

// tellEnd is ended, and waits until the tracer has been told, whoever does that.
func (t *holdTrace) tellEnd(ctx context.Context) {
	t.ended()
	t.wait(ctx)
}

// ended is called when the claim's context has ended. A release is told of when it is done.
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
		t.tell(func(to HoldTracer) { to.Ended(end) })
	})
}

// releasing is called when a release begins: what comes now is no loss.
func (t *holdTrace) releasing() {
	if t != nil {
		t.stop()
	}
}

// released is called when a release is done, or has been left to the client.
func (t *holdTrace) released(ctx context.Context, err error) {
	if t == nil {
		return
	}
	t.over.Do(func() {
		t.tell(func(to HoldTracer) { to.Ended(HoldEnd{Cause: EndReleased, Err: err}) })
	})
	t.wait(ctx)
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

// attributes say in log lines which lock is meant.
func (h *hold) attributes(of Acquire) []slog.Attr {
	attrs := make([]slog.Attr, 0, 8)
	if of.Name != "" {
		attrs = append(attrs, slog.String(semconv.LockName, of.Name))
	}
	return append(attrs,
		slog.String(semconv.LockPath, of.Client.FullPath(of.Path)),
		slog.String(semconv.LockRecipe, of.Recipe),
		slog.String(semconv.LockNode, path.Base(h.nodes[0].Path)),
		slog.Int64(semconv.LockToken, h.token))
}

// context returns the context of the first lease's work.
func (t *holdTrace) context() context.Context {
	if t == nil {
		return context.Background()
	}
	return t.ctx
}

func (t *holdTrace) logLoss(cause error) {
	attrs := append(t.hold.attributes(t.of),
		slog.String(semconv.LockEnd, string(endOfHold(cause))),
		slog.Any(semconv.Cause, cause))
	level := slog.LevelWarn
	if endOfHold(cause) == EndClientClosed { // as somebody wanted
		level = slog.LevelInfo
	}
	t.log.LogAttrs(t.ctx, level, "lock lost", attrs...)
}
