package barriers

import (
	"log/slog"
	"strconv"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/semconv"
)

// logPath is the attribute of a log line that names a node.
func logPath(c *framework.Client, path string) slog.Attr {
	return slog.String(semconv.ZNodePath, framework.Extend(c).FullPath(path))
}

// sessionText returns a session's id as ZooKeeper's own logs have it.
func sessionText(id int64) string { return "0x" + strconv.FormatUint(uint64(id), 16) }
