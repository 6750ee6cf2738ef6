package tracing

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/discovery"
)

// InstanceChanged implements the hook. A drain is an event of the span of the instance's
// node.
func (t *tracer) InstanceChanged(change discovery.InstanceChange) {
	event := semconv.EventDrainsNoMore
	if change.Drains {
		event = semconv.EventDrains
		t.metrics.count(semconv.DiscoveryDrains, 1)
	}
	client := framework.Extend(change.Client)
	for _, n := range t.nodesOfClient(client.Root()) {
		if n.path == client.FullPath(change.Path) {
			n.openSpan().AddEvent(event, trace.WithTimestamp(change.Time))
		}
	}
}

// DirectoryChanged implements the hook.
func (t *tracer) DirectoryChanged(change discovery.DirectoryChange) {
	for _, part := range []struct {
		what string
		n    int
	}{
		{"added", change.Added}, {"removed", change.Removed}, {"updated", change.Updated}, {"malformed", change.Malformed},
	} {
		if part.n > 0 {
			t.metrics.count(semconv.DiscoveryChanges, part.n, attribute.String(semconv.DiscoveryChange, part.what))
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hadDirectories = true
	if change.Ended {
		delete(t.directories, change.Directory)
	} else {
		t.directories[change.Directory] = true
	}
}

// InstanceEjected implements the hook.
func (t *tracer) InstanceEjected(discovery.Ejection) { t.metrics.count(semconv.DiscoveryEjections, 1) }

// observeDirectories reports the contents of all directories, once there has been a
// directory.
func (t *tracer) observeDirectories(o metric.Observer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.hadDirectories {
		return
	}
	states := map[string]int64{"up": 0, "draining": 0}
	malformed, interrupted := int64(0), int64(0)
	for d := range t.directories {
		s := d.Snapshot()
		for _, e := range s.Entries {
			states[stateOf(e)]++
		}
		malformed += int64(len(s.Bad))
		if s.Interrupted {
			interrupted++
		}
	}
	observed := t.metrics.observed
	for state, n := range states {
		o.ObserveInt64(observed[semconv.DiscoveryInstances], n,
			metric.WithAttributes(attribute.String(semconv.DiscoveryState, state)))
	}
	o.ObserveInt64(observed[semconv.DiscoveryMalformed], malformed)
	o.ObserveInt64(observed[semconv.DiscoveryInterrupted], interrupted)
}

// stateOf returns the state of an instance in a directory.
func stateOf(e *discovery.Entry) string {
	if e.Disabled {
		return "draining"
	}
	return "up"
}
