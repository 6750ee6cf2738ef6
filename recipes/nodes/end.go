package nodes

import (
	"cmp"
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
)

// Shutdown deletes the node, and returns nil when a server has said that it is
// gone. A node with a time to live stays, and a node of another client is never
// deleted. When Shutdown returns earlier, and with which error, is the same for all
// recipes: see "How a call ends a node" in the index of the recipes. If the server
// refuses the deletion, that is the error of every Shutdown, and the node stays.
//
// Closing the client ends its persistent nodes, and deletes those that are
// ephemeral.
func (n *PersistentNode) Shutdown(ctx context.Context) error {
	return n.errorOf("shutdown", n.shutdown(ctx))
}

func (n *PersistentNode) shutdown(ctx context.Context) error {
	if err := n.usable(); err != nil {
		return err
	}
	n.end(ErrClosed)
	n.life.Stop()
	ending := n.removal.Ending(ctx, n.session())
	defer ending.Done()
	if !n.life.WaitGone(ending.Context()) {
		return ending.Err(n.session(), reason.OfContext(ending.Context()))
	}
	n.mu.Lock()
	leftover, late := n.leftover, n.late
	n.mu.Unlock()
	return cmp.Or(ending.Err(n.session(), leftover), late.mayCome(ctx))
}

// session returns the session on which the node depends, or nil if it does not
// depend on one.
func (n *PersistentNode) session() *framework.Session {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.madeIn
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
