package framework

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/hooks"
	"github.com/gocurator/curator/internal/semconv"
)

// logHook is the hook that writes the client's log.
type logHook struct{ *slog.Logger }

// StateChanged logs a transition.
func (l logHook) StateChanged(change clienttrace.StateChange) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String(semconv.SessionState, change.State.String()),
		slog.String(semconv.SessionID, fmt.Sprintf("0x%x", uint64(change.SessionID))),
		slog.String(semconv.ServerAddress, change.Server),
	}
	if host, port, err := net.SplitHostPort(change.Server); err == nil {
		attrs[2] = slog.String(semconv.ServerAddress, host)
		attrs = append(attrs, slog.String(semconv.ServerPort, port))
	}
	if change.Cause != nil {
		level = slog.LevelWarn
		attrs = append(attrs, slog.Any(semconv.Cause, change.Cause))
	}
	l.LogAttrs(context.Background(), level, "zookeeper connection state changed", attrs...)
}

// Line writes an event that only the log receives.
func (l logHook) Line(n hooks.Line) { l.LogAttrs(n.Context, n.Level, n.Text, n.Attrs...) }

// withLog puts the hook of the log before the user's hooks, so that a hook that blocks
// does not hide the line about its event.
func withLog(logger *slog.Logger, all []any) []any {
	if logger.Handler() == slog.DiscardHandler {
		return all
	}
	return append([]any{logHook{logger}}, all...)
}

// log makes the emitter write a line. The caller may hold a mutex.
func (c *core) log(level slog.Level, text string, attrs ...slog.Attr) {
	line := hooks.Line{Context: context.Background(), Level: level, Text: text, Attrs: attrs}
	for _, h := range hookLine.Of(c.root) {
		c.emitter.post(func() { h.Line(line) })
	}
}

// libraryLogger passes on the library's messages.
type libraryLogger struct{ *core }

// Printf implements zk.Logger.
func (l libraryLogger) Printf(format string, args ...any) {
	l.log(slog.LevelDebug, "go-zookeeper: "+fmt.Sprintf(format, args...))
}
