package framework

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/semconv"
)

// logState logs a transition.
func (cfg *config) logState(change clienttrace.StateChange) {
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
	cfg.logger.LogAttrs(context.Background(), level, "zookeeper connection state changed", attrs...)
}

// libraryLogger passes on the library's messages.
type libraryLogger struct{ *core }

// Printf implements zk.Logger.
func (l libraryLogger) Printf(format string, args ...any) {
	if l.hasLog() {
		l.logLater(slog.LevelDebug, "go-zookeeper: "+fmt.Sprintf(format, args...))
	}
}

// logLater makes the emitter write a line. Background work and callers with a mutex
// held use logLater; other callers write their lines directly.
func (c *core) logLater(level slog.Level, line string, attrs ...slog.Attr) {
	if c.hasLog() {
		c.emitter.post(func() { c.cfg.logger.LogAttrs(context.Background(), level, line, attrs...) })
	}
}

func (c *core) hasLog() bool { return c.cfg.logger.Handler() != slog.DiscardHandler }
