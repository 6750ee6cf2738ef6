package atomic

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
)

// Calls return these errors, besides package framework's. Match them with
// errors.Is.
var (
	// ErrNoVersion means that a node was written so often that its version is
	// -1. ZooKeeper takes that for any version, so that nobody can write the
	// node on condition. Any other write of the node ends this.
	ErrNoVersion = errors.New("version of the node is -1, which stands for any")

	// ErrEphemeral means that a node is ephemeral. The server deletes it, and
	// its value with it, so it is read but not written. ZooKeeper does not tell
	// containers and nodes with a time to live from persistent ones: do not count
	// in a node that is the parent of others, or the path of receipts.
	ErrEphemeral = errors.New("node is ephemeral")

	// ErrRestarted means that a Sequence's node was deleted and re-created, so
	// that dense numbers begin again.
	ErrRestarted = errors.New("node of the sequence was re-created")

	// ErrExhausted means that a Sequence has no more dense numbers.
	ErrExhausted = errors.New("no more dense numbers")
)

// unknown makes an error match framework.ErrOutcomeUnknown.
func unknown(err error) error {
	if reason.Is(err, framework.ErrOutcomeUnknown) {
		return err
	}
	return fmt.Errorf("%w: %w", framework.ErrOutcomeUnknown, err)
}

// asReason returns an error of a request that has failed, as the reason why a
// call had to wait. If it matches an error that would say something about the
// call itself, only its text is kept.
func asReason(err error) error {
	for _, misleading := range []error{
		framework.ErrOutcomeUnknown, framework.ErrClosed, context.Canceled, context.DeadlineExceeded,
	} {
		if reason.Is(err, misleading) {
			return errors.New(err.Error())
		}
	}
	return err
}

// withoutOp takes away what an error of framework says about its own operation:
// the caller has asked for another one.
func withoutOp(err error) error {
	var failed *framework.OpError
	if reason.As(err, &failed) && failed.Error() == err.Error() {
		return failed.Err
	}
	return err
}
