package barriers

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/event"
)

// These errors are returned by barriers, or are causes of a Passage's context,
// beside the errors of package framework. Match them with errors.Is. A value
// that cannot be used is a *framework.ConfigError and matches
// zk.ErrBadArguments; a path matches zk.ErrInvalidPath.
var (
	// ErrRaised means that a barrier is up; see RaisedError.
	ErrRaised = errors.New("barrier is raised")

	// ErrNotEntered means that too few members have entered. The text of the
	// error has how many members open the barrier, and how many were there when
	// this one gave up, itself included. In Curator's layout, those that are
	// inside are counted, too. If the servers do not tell by then, it has how
	// many were there when this one came, with those inside, and 0 if they were
	// not seen.
	ErrNotEntered = errors.New("too few members have entered")

	// ErrNotLeft means that Leave has given up waiting for other members. The
	// caller has left.
	ErrNotLeft = errors.New("other members have not left")

	// ErrLeft is the cause of the context of a Passage whose member has called
	// Leave.
	ErrLeft = errors.New("left the barrier")

	// ErrMemberLost means that another member was lost before it left; see
	// MemberLostError.
	ErrMemberLost = errors.New("a member of the barrier was lost")

	// ErrNodeDeleted means that somebody else deleted the member's node.
	ErrNodeDeleted = errors.New("the member's node was deleted")

	// ErrForeignData means that the node of a DoubleBarrier has data that this
	// package did not write, so that the path is used for something else.
	ErrForeignData = errors.New("node has data of another kind")
)

// RaisedError says that a barrier is up, who raised it, and since when. It
// matches ErrRaised.
type RaisedError struct {
	Op     string // the call, such as "wait"
	Path   string // the barrier's
	Raised Raised // the barrier when the call last looked
	Err    error  // the end of the call's context, with the last error that it has outlasted, or nil
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

// MemberLostError names members that were lost while they were inside a
// DoubleBarrier. It matches ErrMemberLost.
type MemberLostError struct {
	Path    string   // the barrier's
	Members []string // the names of their nodes
}

// Error names the barrier and the members.
func (e *MemberLostError) Error() string {
	names := make([]string, len(e.Members))
	for i, name := range e.Members {
		names[i] = printable.String(name)
	}
	return fmt.Sprintf("%s: %v: %s", printable.String(e.Path), ErrMemberLost, strings.Join(names, ", "))
}

// Unwrap returns ErrMemberLost.
func (e *MemberLostError) Unwrap() error { return ErrMemberLost }

// ignore returns the error, unless it is one of those that are expected.
func ignore(err error, expected ...error) error {
	if slices.ContainsFunc(expected, func(e error) bool { return reason.Is(err, e) }) {
		return nil
	}
	return err
}

func numberError(n int, why string) error {
	return &framework.ConfigError{Name: "number of members", Value: strconv.Itoa(n), Reason: why}
}

func isNil(name string) error {
	return &framework.ConfigError{Name: name, Value: "nil", Reason: "must not be nil"}
}
