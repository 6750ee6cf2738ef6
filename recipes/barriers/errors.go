package barriers

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/internal/event"
)

// Barriers return these errors and the errors of package framework. Match them with
// errors.Is. The error for an invalid argument is a *framework.ConfigError and matches
// zk.ErrBadArguments; the error for an invalid path matches zk.ErrInvalidPath.
var (
	// ErrRaised means that a barrier is up; see RaisedError.
	ErrRaised = errors.New("barrier is raised")

	// ErrNotEntered means that Enter has given up. The text of the error says how many
	// members open the barrier, and how many members the client's last list had,
	// including this member. The second number is 0 if the client could not list the
	// members.
	ErrNotEntered = errors.New("too few members have entered")

	// ErrNotLeft means that Leave has given up waiting for other members. The caller
	// itself has left.
	ErrNotLeft = errors.New("other members have not left")

	// ErrLeft is the cause of the context of a Passage after Leave was called.
	ErrLeft = errors.New("left the barrier")
)

// RaisedError says that a barrier is up, who raised it, and since when. It
// matches ErrRaised.
type RaisedError struct {
	Op     string // the call, such as "wait"
	Path   string // of the barrier
	Raised Raised // the barrier at the last read
	Err    error  // why the call's context ended, with the last error of a request; or nil
}

// Error names the barrier, who raised it, and since when.
func (e *RaisedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %v by %s, since %s", e.Op, printable.String(e.Path), ErrRaised, e.Raised.by(),
		e.Raised.Since.UTC().Format(time.RFC3339))
	if e.Raised.Owner != 0 {
		fmt.Fprintf(&b, ", until the end of session %s", event.SessionText(e.Raised.Owner))
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap returns ErrRaised and, if it is not nil, Err.
func (e *RaisedError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrRaised}
	}
	return []error{ErrRaised, e.Err}
}
