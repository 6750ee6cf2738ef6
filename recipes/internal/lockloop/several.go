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
//
// EnterAll also reports whether the transaction was sent again, so that there may
// be two nodes in each queue.
func EnterAll(ctx context.Context, loops []*Loop, data []byte) (nodes []framework.Created, again bool, err error) {
	ops := make([]framework.TxnOp, len(loops))
	for i, l := range loops {
		ops[i] = l.nodes.createOp(data)
	}
	client := loops[0].nodes.Client
	session, err := client.Session(ctx)
	if err != nil {
		return nil, false, err
	}
	ctx = framework.Extend(client).OnTrouble(ctx, func(error) { again = true })
	results, err := client.Transaction(ctx, ops...)
	switch {
	case err == nil:
		return createdBy(results), again, nil
	case reason.Is(err, framework.ErrOutcomeUnknown) && !framework.IsConnectionError(err) && mayBeLost(session, err):
		return nil, again, ErrPlaceLost
	}
	return nil, again, err
}

// mayBeLost reports whether nodes that a transaction may have made are lost. A
// server that answers with any other error would do so the next time, too.
func mayBeLost(s *framework.Session, err error) bool {
	return s.Context().Err() != nil || reason.Is(err, zk.ErrNoNode)
}

// listings is the number of queues that are listed at once.
const listings = 32

// mostNames is how many names one answer with several queues may have, if they are
// as long as they were at the last look. They take about 128 KiB then. Over a slow
// line, a client would not wait for a longer answer.
const mostNames = 2000

// ListAll lists the queue of each loop, and puts the listings into the nodes of ours
// there, for the attempts that begin with them. An attempt whose queue is gone looks
// by itself, and finds that out. One request lists many queues, if the server takes
// it. Else each has one, and they are under way at the same time.
//
// It deletes other nodes of the transaction in all queues. An attempt deletes them
// only when it looks at its own queue. Until then somebody may wait for such a node
// whom we wait for in another queue.
func ListAll(ctx context.Context, loops []*Loop, nodes []framework.Created) error {
	for len(loops) > 0 {
		n := min(listings, len(loops))
		if err := listSome(ctx, loops[:n], nodes[:n]); err != nil {
			return err
		}
		loops, nodes = loops[n:], nodes[n:]
	}
	return nil
}

func listSome(ctx context.Context, loops []*Loop, nodes []framework.Created) error {
	read, err := listTogether(ctx, loops)
	if err != nil {
		return err
	}
	if read == nil {
		read = oneByOne(ctx, loops)
	}
	return make(follow.Slots, len(loops)).Each(len(loops), func(i int) error {
		names, err := read(i)
		switch {
		case reason.Is(err, zk.ErrNoNode):
			return nil
		case err != nil: // it says nothing of the queue's length, nor of our nodes there
			return err
		}
		nodes[i].Siblings = names
		loops[i].length.Store(int64(len(names)))
		loops[i].nodes.deleteTwins(nodes[i], names)
		return nil
	})
}

// queueNames returns the names in a queue.
type queueNames func(i int) ([]string, error)

// oneByOne lists a queue with each call.
func oneByOne(ctx context.Context, loops []*Loop) queueNames {
	return func(i int) ([]string, error) {
		of := loops[i].nodes
		return framework.Extend(of.Client).Siblings(ctx, of.Path)
	}
}

// listTogether lists several queues with one request. It returns nil if that cannot
// be, or is not worth it, so that they are best listed one by one. The request has a
// goroutine of its own, because the user's code may end that.
func listTogether(ctx context.Context, loops []*Loop) (queueNames, error) {
	var paths []string
	names := int64(0)
	for _, l := range loops {
		paths = append(paths, l.nodes.Path)
		names += l.length.Load()
	}
	if len(loops) < 2 || names > mostNames {
		return nil, nil
	}
	var all []framework.SiblingsRead
	err := make(follow.Slots, 1).Each(1, func(int) (err error) {
		all, err = framework.Extend(loops[0].nodes.Client).MultiSiblings(ctx, paths...)
		return err
	})
	switch {
	case reason.Is(err, framework.ErrNotConnected): // other requests would wait as long again
		return nil, err
	case err != nil:
		return nil, nil
	}
	return func(i int) ([]string, error) {
		if err := all[i].Err; err != nil {
			return nil, &framework.OpError{Op: "children", Path: paths[i], Err: err}
		}
		return all[i].Names, nil
	}, nil
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
