package barriers

import (
	"log/slog"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/event"
)

// logPath is the attribute of a log line that names a node.
func logPath(c *framework.Client, path string) slog.Attr {
	return event.Of(c, path).Path()
}

// sessionText returns a session's id as ZooKeeper's own logs have it.
func sessionText(id int64) string { return event.SessionText(id) }
