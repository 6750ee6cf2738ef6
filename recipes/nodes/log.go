package nodes

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/semconv"
)

// logPath is the attribute of a log line that names a node.
func (n *PersistentNode) logPath(path string) slog.Attr {
	if path == "" {
		path = n.path
	}
	return slog.String(semconv.ZNodePath, framework.Extend(n.client).FullPath(path))
}

// lines are the log's lines about changes.
var lines = map[State]string{
	Registered:  "persistent node registered",
	Lost:        "persistent node lost",
	Conflict:    "persistent node is in conflict with another node",
	Overwritten: "persistent node was written by somebody else",
	Ended:       "persistent node ends",
}

// logLocked writes a change into the log, but for what the user has wanted.
func (n *PersistentNode) logLocked(change Change) {
	if change.Err != nil && unlessWanted(change.Err) == nil {
		return
	}
	level, about := slog.LevelWarn, slog.Any(semconv.Cause, change.Err)
	switch change.State {
	case Registered:
		level, about = slog.LevelInfo, slog.String(semconv.SessionID, sessionText(n.now.Session.ID()))
	case Conflict:
		about = slog.String(semconv.ZNodeOwner, sessionText(n.conflict.Session))
	case Overwritten:
		about = slog.Attr{} // is left out
	case Ended:
		about = slog.Any(semconv.Cause, n.failure)
	}
	framework.Extend(n.client).Logger().LogAttrs(context.Background(), level, lines[change.State], n.logPath(change.Path), about)
}

// sessionText returns a session's id as ZooKeeper's own logs have it.
func sessionText(id int64) string { return "0x" + strconv.FormatUint(uint64(id), 16) }

// timeOf returns the time of a Stat's field.
func timeOf(millis int64) time.Time { return time.UnixMilli(millis) }
