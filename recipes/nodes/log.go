package nodes

import (
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

func (n *PersistentNode) logEnd(err error) {
	framework.Extend(n.client).Logger().Warn("persistent node ends", n.logPath(""), semconv.Cause, err)
}

// sessionText returns a session's id as ZooKeeper's own logs have it.
func sessionText(id int64) string { return "0x" + strconv.FormatUint(uint64(id), 16) }

// timeOf returns the time of a Stat's field.
func timeOf(millis int64) time.Time { return time.UnixMilli(millis) }
