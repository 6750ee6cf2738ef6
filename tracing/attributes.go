package tracing

import (
	"context"
	"net"
	"strconv"

	"go.opentelemetry.io/otel/attribute"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/locktrace"
)

// modeOf returns the mode in which a lock is requested.
func modeOf(a locktrace.Acquire) string {
	switch {
	case a.Recipe == locktrace.RecipeReadWriteLock && a.Shared:
		return "read"
	case a.Recipe == locktrace.RecipeReadWriteLock:
		return "write"
	case a.Recipe == locktrace.RecipeSemaphore:
		return "shared"
	default:
		return "exclusive"
	}
}

// isLeadership reports whether the acquire is a candidate for leadership. A leadership
// and the wait for it may last long, so neither is reported as slow.
func isLeadership(a locktrace.Acquire) bool {
	return a.Recipe == locktrace.RecipeLeaderLatch || a.Recipe == locktrace.RecipeLeaderSelector
}

// spanAttributes returns the attributes that every span of a lock has. The
// slice has capacity for a few more.
func spanAttributes(a locktrace.Acquire) []attribute.KeyValue {
	attrs := append(make([]attribute.KeyValue, 0, 8),
		attribute.String(semconv.LockRecipe, a.Recipe),
		attribute.String(semconv.LockMode, modeOf(a)))
	if a.Name != "" {
		attrs = append(attrs, attribute.String(semconv.LockName, a.Name))
	}
	if a.Path != "" {
		attrs = append(attrs, attribute.String(semconv.LockPath, fullPath(a)))
	}
	if a.Recipe == locktrace.RecipeSemaphore || a.Recipe == locktrace.RecipeMultiLock {
		attrs = append(attrs, attribute.Int(semconv.LockLeases, a.Leases))
	}
	return attrs
}

// fullPath returns a lock's path as the server knows it.
func fullPath(a locktrace.Acquire) string { return framework.Extend(a.Client).FullPath(a.Path) }

// spanName returns a span name that ends with the name of the lock, or else with the
// recipe. It does not use paths, because there may be too many.
func spanName(verb string, a locktrace.Acquire) string {
	if a.Name != "" {
		return verb + " " + a.Name
	}
	return verb + " " + a.Recipe
}

// serverAttributes splits an address into the attributes for host and port.
func serverAttributes(address string) []attribute.KeyValue {
	if address == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(address)
	number, notNumber := strconv.Atoi(port)
	if err != nil || notNumber != nil {
		return []attribute.KeyValue{attribute.String(semconv.ServerAddress, address)}
	}
	return []attribute.KeyValue{
		attribute.String(semconv.ServerAddress, host),
		attribute.Int(semconv.ServerPort, number),
	}
}

// errorType maps an error to one of a small set of words. A server's error becomes its
// numeric code.
func errorType(err error) string {
	code, answered := framework.ServerCode(err)
	switch {
	case reason.Is(err, context.DeadlineExceeded):
		return "timeout"
	case reason.Is(err, context.Canceled):
		return "canceled"
	case reason.Is(err, framework.ErrClosed):
		return "client_closed"
	case reason.Is(err, framework.ErrSessionLost):
		return "session_lost"
	case answered:
		return strconv.Itoa(int(code))
	case reason.Is(err, framework.ErrNotConnected):
		return "not_connected"
	case framework.IsConnectionError(err):
		return "connection_lost"
	default:
		return "_OTHER"
	}
}
