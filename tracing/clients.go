package tracing

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/locktrace"
	"github.com/gocurator/curator/state"
)

// ClientOpened implements the hook.
func (t *tracer) ClientOpened(c clienttrace.Client) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clients[c] = true
}

// ClientClosed implements the hook. Close has already reported the end of every lease,
// unless a tracer's call took too long. In that case the report may come after the
// program has shut its providers down, so ClientClosed ends the spans of holds and of
// persistent nodes.
func (t *tracer) ClientClosed(c clienttrace.Client) {
	for _, h := range t.holdsOfClient(c) {
		h.Ended(locktrace.HoldEnd{Cause: locktrace.EndClientClosed, Err: framework.ErrClosed})
	}
	for _, n := range t.nodesOfClient(c) {
		n.end(nil, time.Now())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.clients, c)
}

// observe is called at each collection of metrics. It reports the counts of locks, the
// missing nodes, the lag of caches, the contents of directories, and the state and the
// watches of every open client.
func (t *tracer) observe(_ context.Context, o metric.Observer) error {
	t.metrics.observeCounts(o)
	t.observeNodes(o)
	t.observeCaches(o)
	t.observeDirectories(o)
	clients := t.openClients()
	if len(clients) == 0 {
		return nil
	}
	counts := map[string]int64{"connecting": 0, "connected": 0, "suspended": 0, "lost": 0}
	var watches int64
	for _, c := range clients {
		counts[sessionState(c.State())]++
		watches += int64(insider.Of(c).Watches())
	}
	for s, n := range counts {
		attr := attribute.String(semconv.SessionState, s)
		o.ObserveInt64(t.metrics.observed[semconv.Sessions], n, metric.WithAttributes(attr))
	}
	o.ObserveInt64(t.metrics.observed[semconv.Watches], watches)
	return nil
}

func (t *tracer) openClients() []clienttrace.Client {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]clienttrace.Client, 0, len(t.clients))
	for c := range t.clients {
		all = append(all, c)
	}
	return all
}

func sessionState(s state.State) string {
	switch s {
	case state.Initial:
		return "connecting"
	case state.Suspended:
		return "suspended"
	case state.Lost:
		return "lost"
	default:
		return "connected"
	}
}

// StateChanged implements the hook. It counts reconnects and expiries,
// and adds an event to every open span of the client.
func (t *tracer) StateChanged(change clienttrace.StateChange) {
	var event string
	switch change.State {
	case state.Suspended:
		event = semconv.EventSuspended
	case state.Reconnected:
		event = semconv.EventRestored
		t.metrics.count(semconv.Reconnects, 1)
	case state.Lost:
		event = semconv.EventSessionLost
		if reason.Is(change.Cause, framework.ErrSessionLost) {
			t.metrics.count(semconv.Expiries, 1)
		}
	default:
		return
	}
	attrs := append(serverAttributes(change.Server),
		attribute.String(semconv.SessionID, fmt.Sprintf("0x%x", uint64(change.SessionID))))
	if change.Cause != nil {
		attrs = append(attrs, attribute.String(semconv.Cause, change.Cause.Error()))
	}
	for _, span := range t.spansAffectedBy(change) {
		span.AddEvent(event, trace.WithTimestamp(change.Time), trace.WithAttributes(attrs...))
	}
}
