package nodes

import (
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/internal/printable"
)

// Persistent nodes and groups return these errors and the errors of package framework, or
// report them in a Change. Match them with errors.Is. The error for an invalid argument
// is a *framework.ConfigError and matches zk.ErrBadArguments; the error for an invalid
// path matches zk.ErrInvalidPath.
var (
	// ErrClosed means that Shutdown was called on the node, or Leave on the member.
	ErrClosed = errors.New("persistent node closed")

	// ErrInUse means that this client already has a persistent node at the path. Shut the
	// first one down before you create the second.
	ErrInUse = errors.New("another persistent node of this client has the path")

	// ErrConflict means that another client's node is in the way; see ConflictError.
	ErrConflict = errors.New("another client's node is in the way")

	// ErrNodeDeleted means that another client deleted the node.
	ErrNodeDeleted = errors.New("node was deleted by another client")

	// ErrNotTouched means that the persistent node could not touch its node for a whole
	// time to live. The server may have deleted the node.
	ErrNotTouched = errors.New("node was not touched within its time to live")
)

// ConflictError describes the node that is in the way of a persistent node. It
// matches ErrConflict.
type ConflictError struct {
	Path    string
	Session int64     // the id of the session that owns the node; 0 if it is not ephemeral
	Czxid   int64     // of the node
	Since   time.Time // when the node was created, by the server's clock

	// Data is the node's data when the client found it, and may identify the owner. It is
	// nil if the client could not read it. It is shared: do not change it.
	Data []byte
}

// Error names the session that owns the node, and when the node was created.
func (e *ConflictError) Error() string {
	owner := "no session"
	if e.Session != 0 {
		owner = fmt.Sprintf("session %#x", uint64(e.Session))
	}
	return fmt.Sprintf("%v: %s of %s, since %s", ErrConflict, printable.String(e.Path),
		owner, e.Since.UTC().Format(time.RFC3339))
}

// Unwrap returns ErrConflict.
func (e *ConflictError) Unwrap() error { return ErrConflict }
