package framework

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/semconv"
)

// logStates writes a line for a transition.
func (cfg *config) logStates(change clienttrace.StateChange) {
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

// libraryLogger passes the library's messages on.
type libraryLogger struct {
	to interface{ Debug(string, ...any) }
}

// Printf implements zk.Logger.
func (l libraryLogger) Printf(format string, args ...any) {
	l.to.Debug("go-zookeeper: " + fmt.Sprintf(format, args...))
}

func (c *core) logOutage(lasted time.Duration, attempt error) {
	c.cfg.logger.Warn("zookeeper servers cannot be reached",
		slog.Duration(semconv.OutageDuration, lasted), slog.Any(semconv.Cause, attempt))
}
