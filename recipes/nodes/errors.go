package nodes

import (
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/internal/printable"
)

// Persistent nodes and groups return these errors together with package framework's,
// or have them in a Change. Match them with errors.Is. A value that cannot be used is a
// *framework.ConfigError and matches zk.ErrBadArguments; a path matches
// zk.ErrInvalidPath.
var (
	// ErrClosed is the error of a node that was shut down, and of a member that
	// has left.
	ErrClosed = errors.New("persistent node closed")

	// ErrInUse is the error of a second node of the same client and path before
	// the first one's Shutdown.
	ErrInUse = errors.New("another persistent node of this client has the path")

	// ErrConflict means that somebody else's node is in the way; see
	// ConflictError.
	ErrConflict = errors.New("somebody else's node is in the way")

	// ErrNodeDeleted means that somebody else deleted the node.
	ErrNodeDeleted = errors.New("node was deleted by somebody else")

	// ErrNotTouched means that a node with a time to live could not be touched
	// for that long, so that the server may have deleted it.
	ErrNotTouched = errors.New("node was not touched within its time to live")
)

// ConflictError describes the node that is in the way of a persistent node. It
// matches ErrConflict.
type ConflictError struct {
	Path    string
	Session int64     // the id of the session that owns the node; 0 if it is not ephemeral
	Czxid   int64     // the node's
	Since   time.Time // the time of the node's creation, by the server's clock

	// Data is what the node said when it was found, which may say whose it is.
	// It is nil if it could not be read. It is shared: do not change it.
	Data []byte
}

// Error names the node's owner, and says since when the node is there.
func (e *ConflictError) Error() string {
	owner := "no session"
	if e.Session != 0 {
		owner = fmt.Sprintf("session %#x", uint64(e.Session))
	}
	return fmt.Sprintf("%v: %s of %s, since %s", ErrConflict, printable.String(e.Path), owner, e.Since.UTC().Format(time.RFC3339))
}

// Unwrap returns ErrConflict.
func (e *ConflictError) Unwrap() error { return ErrConflict }
