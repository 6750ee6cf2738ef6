package lockloop

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// EnterAll makes a node of one client in the queue of each loop, by one
// transaction: all or none. So of two that enter some of the same queues in this
// way, the same one is ahead in all of them, and they cannot wait for each other.
// No two of the loops may be at the same path.
//
// The error is ErrPlaceLost if nodes were made, perhaps, and are lost: with their
// session, or because somebody has deleted one. The client deletes those that
// there may be. Every other error is the transaction's.
func EnterAll(ctx context.Context, loops []*Loop, data []byte) ([]framework.Created, error) {
	ops := make([]framework.TxnOp, len(loops))
	for i, l := range loops {
		ops[i] = l.nodes.createOp(data)
	}
	client := loops[0].nodes.Client
	session, err := client.Session(ctx)
	if err != nil {
		return nil, err
	}
	results, err := client.Transaction(ctx, ops...)
	switch {
	case err == nil:
		return createdBy(results), nil
	case reason.Is(err, framework.ErrOutcomeUnknown) && !framework.IsConnectionError(err) && mayBeLost(session, err):
		return nil, ErrPlaceLost
	}
	return nil, err
}

// mayBeLost reports whether nodes that a transaction may have made are lost. A
// server that answers with any other error would do so the next time, too.
func mayBeLost(s *framework.Session, err error) bool {
	return s.Context().Err() != nil || reason.Is(err, zk.ErrNoNode)
}

// listings is the number of queues that are listed at once.
const listings = 32

// ListAll lists the queue of each loop, all at the same time, and puts the
// listings into the nodes of ours there, for the attempts that begin with them.
// An attempt whose queue is gone looks by itself, and finds that out.
//
// It deletes other nodes of the transaction in all queues. An attempt deletes them
// only when it looks at its own queue. Until then somebody may wait for such a node
// whom we wait for in another queue.
func ListAll(ctx context.Context, loops []*Loop, nodes []framework.Created) error {
	return make(follow.Slots, listings).Each(len(loops), func(i int) (err error) {
		of := loops[i].nodes
		nodes[i].Siblings, err = framework.Extend(of.Client).Siblings(ctx, of.Path)
		if reason.Is(err, zk.ErrNoNode) {
			return nil
		}
		of.deleteTwins(nodes[i], nodes[i].Siblings)
		return err
	})
}

// createOp returns the operation that makes a contender's node in a transaction.
func (n Nodes) createOp(data []byte) framework.TxnOp {
	return framework.CreateOp(znode.Join(n.Path, n.Kind), data,
		framework.WithMode(framework.EphemeralSequential), framework.WithProtection(), framework.WithParents())
}

// createdBy returns the nodes that the operations of a transaction have made.
func createdBy(results []framework.TxnResult) []framework.Created {
	nodes := make([]framework.Created, len(results))
	for i, r := range results {
		nodes[i] = framework.Created{Path: r.Path, Czxid: r.Zxid, Session: r.Session}
	}
	return nodes
}
