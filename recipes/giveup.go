package recipes

import (
	"context"
	"errors"
	"slices"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/state"
)

// giveUpSoon is giveUp for those who do not wait without a connection: it waits
// for the server's answers until ctx ends, the connection breaks, or the
// session ends, and leaves the rest to the client. It returns what the caller
// can act on.
func (h *hold) giveUpSoon(ctx context.Context) error {
	under, done := whileConnected(ctx, h.nodes[0].Session)
	defer done()
	return refusalsIn(h.giveUp(under))
}

// whileConnected returns a copy of ctx that also ends at the first interruption
// of the session's connection. If that is interrupted now, it has ended.
func whileConnected(ctx context.Context, s *framework.Session) (context.Context, context.CancelFunc) {
	connection := s.Trusted(state.StandardPolicy)
	under, end := context.WithCancelCause(ctx)
	broken := func() { end(interruption{context.Cause(connection)}) }
	if connection.Err() != nil {
		broken()
		return under, func() {}
	}
	stop := context.AfterFunc(connection, broken)
	return under, func() {
		stop()
		end(nil)
	}
}

// interruption is the cause with which a context of whileConnected ends, unless
// it was the caller's that has ended.
type interruption struct{ error }

// deleteNodes deletes the nodes of a claim, the last first. The error says why
// a node may still be there.
func (h *hold) deleteNodes(ctx context.Context) error {
	ctx, wait := h.followed().during(ctx, h.client)
	defer wait()
	var errs []error
	for _, n := range slices.Backward(h.nodes) {
		err := h.client.Delete(ctx, n.Path, framework.AnyVersion, framework.Guaranteed())
		if err == nil {
			continue
		}
		var broken interruption
		if errors.As(context.Cause(ctx), &broken) && !framework.IsRefusal(err) {
			err = &framework.OpError{Op: "delete", Path: n.Path, Err: broken.error} // it is not the caller who has gone
		}
		errs = append(errs, err)
	}
	return oneOf(errs)
}

// oneOf joins errors. A single one stays as it is: most locks have one node.
func oneOf(errs []error) error {
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}

// refusalsIn returns what the caller of a release can act on: the server
// refuses to delete a node. What is left to the client's background needs
// nobody.
func refusalsIn(err error) error {
	errs := []error{err}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		errs = several.Unwrap()
	}
	return oneOf(slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return !framework.IsRefusal(err) }))
}

// unlessDown returns a context for what follows an error: one that has ended,
// so that it is left to the background, if the error says that there is no
// connection.
func unlessDown(ctx context.Context, err error) context.Context {
	if framework.IsConnectionError(err) {
		return ended
	}
	return ctx
}

// ended is a context for releases that nobody waits for.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()
