package nodes

import (
	"cmp"
	"context"
	"fmt"
)

// Shutdown deletes the node, and returns when it is gone; a node with a time to
// live stays. If ctx ends first, the error matches ctx.Err(), and the client
// goes on: it deletes the node when there is a connection, or the session's end
// does. If the server refuses the deletion, that is the error, and the node
// stays. Somebody else's node is never deleted.
//
// Every Shutdown waits and returns the same. Closing the client ends its
// persistent nodes, and deletes those that are ephemeral.
func (n *PersistentNode) Shutdown(ctx context.Context) error {
	return n.errorOf("shutdown", n.shutdown(ctx))
}

func (n *PersistentNode) shutdown(ctx context.Context) error {
	if err := n.usable(); err != nil {
		return err
	}
	n.end(ErrClosed)
	n.life.Stop()
	if !n.life.WaitGone(ctx) {
		return fmt.Errorf("the node may still be there: %w", n.removal.GaveUp(ctx))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.leftover
}

// end ends the persistent node, if nothing has ended it before. The keeper still
// has to delete the node.
func (n *PersistentNode) end(why error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failure != nil {
		return
	}
	n.failure = why
	n.tellLocked(Change{State: Ended, Err: n.errorOf("persistent node", why)})
	n.life.End(why)
}

// Done is closed when the persistent node has ended, for the reason that Err
// returns.
func (n *PersistentNode) Done() <-chan struct{} { return n.life.Over().Done() }

// Err returns why the persistent node has ended, or nil if it has not. The
// reasons are:
//
//   - ErrClosed: it was shut down.
//   - framework.ErrClosed: the client was closed.
//   - ErrConflict, in a *ConflictError: somebody else's node is in the way,
//     and the policy is not to wait.
//   - An error of the server that waiting does not cure, such as zk.ErrNoAuth,
//     or zk.ErrAuthFailed if the servers refuse the client's credentials.
//
// Outages, losses of the session and servers in trouble do not end it. A
// persistent node that has ended by itself deletes its node, as Shutdown does.
func (n *PersistentNode) Err() error {
	if err := n.usable(); err != nil {
		return n.errorOf("persistent node", err)
	}
	n.mu.Lock() // readers of Changes may have been told before the life is over
	defer n.mu.Unlock()
	return n.errorOf("persistent node", cmp.Or(n.failure, n.life.Err()))
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// endedLocked returns why there is nothing to wait for.
func (n *PersistentNode) endedLocked() error {
	return cmp.Or(n.usable(), n.failure)
}
