package lockloop

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// Limit returns how many nodes there may be. If watch is set, changed is a watch
// that fires when the limit may be another one. It is nil if the limit cannot
// change.
type Limit func(ctx context.Context, watch bool) (n int, changed *framework.Watch, err error)

// Places are nodes of which there may be no more than a limit, such as a
// semaphore's leases. Whoever wants some waits for a turn at a gate first, which
// is a queue with a node for each contender: one of them at a time takes places.
type Places struct {
	loop  *Loop
	limit Limit
}

// ByCount returns the places of a limit. All children of the path count.
func ByCount(n Nodes, limit Limit) *Places { return &Places{&Loop{nodes: n}, limit} }

// Turn is a contender's turn to take places.
type Turn struct {
	Gate framework.Created // our node at the gate, which nobody passes as long as it is there
	Open context.Context   // ends with the turn, and also with the context of Take
	Wanted

	// Leave is called before the transaction that deletes the node at the gate.
	Leave func()

	left bool // nobody but us watches our node at the gate any more
}

// Wanted is what a contender wants of the places.
type Wanted struct {
	N       int         // how many
	OnLimit func(n int) // is told of the limit whenever it is read; may be nil
}

// ErrTurnOver means that the turn has ended before places were taken.
var ErrTurnOver = errors.New("the turn is over")

// Take waits until all places that a turn is for fit under the limit, or only
// looks. It takes them by one transaction, which also ends the turn: it deletes
// our node at the gate. So nobody else can have taken a place meanwhile, and if
// that node is gone, no place is taken. The caller must delete the nodes that are
// returned.
//
// A waiter outlasts every outage, as in Run.
func (p *Places) Take(ctx context.Context, t Turn, a Attempt) ([]framework.Created, *NotAdmitted) {
	c := newContender(p.loop, a)
	c.node = t.Gate
	client := framework.Extend(p.loop.nodes.Client)
	ctx, t.Open = client.OnTrouble(ctx, c.recovery.Note), client.OnTrouble(t.Open, c.recovery.Note)
	for {
		nodes, err := p.step(ctx, c, &t)
		switch {
		case err == nil:
			c.recovery.Recovered()
			p.loop.refused.Store(nil)
			return nodes, nil
		case reason.Is(err, errAgain):
			c.recovery.Recovered()
		case !reason.Is(err, errStale) && t.Open.Err() == nil && c.outlasts(t.Open, err):
		default:
			c.tellAbandoned(err)
			if reason.Is(err, errStale) {
				err = ErrTurnOver
			}
			c.seen.Err = ErrorOf(t.Open, err, c.recovery.Trouble())
			p.loop.noteRefusal(c.seen)
			return nil, &c.seen
		}
	}
}

// step looks at the places once. It looks without watches first, because that is
// usually enough.
func (p *Places) step(ctx context.Context, c *contender, t *Turn) ([]framework.Created, error) {
	now, err := p.look(c, t, false)
	switch {
	case err != nil:
		return nil, err
	case now.fits(t.N):
		return p.take(ctx, c, t)
	case !c.attempt.Wait:
		c.noteTaken(now.taken)
		c.readHolder(t.Open)
		return nil, errHeld
	}
	return p.wait(ctx, c, t)
}

func (p *Places) wait(ctx context.Context, c *contender, t *Turn) ([]framework.Created, error) {
	now, err := p.look(c, t, true)
	defer now.stop()
	switch {
	case err != nil:
		return nil, err
	case now.fits(t.N):
		return p.take(ctx, c, t)
	}
	c.noteTaken(now.taken)
	c.readNewHolder(t.Open)
	c.tellWaiting(Other{})
	c.tellBlocked()
	err = c.await(t.Open, changes{doneOf(now.changed), doneOf(now.limited), doneOf(now.gate)}, nil)
	c.tellWoken(err, now.changed)
	return nil, err
}

// mostPlaces is more than fits into any request.
const mostPlaces = 1 << 20

// take makes the nodes in the place of ours at the gate.
func (p *Places) take(ctx context.Context, c *contender, t *Turn) ([]framework.Created, error) {
	if t.N > mostPlaces {
		return nil, framework.ErrRequestTooLarge
	}
	of := p.loop.nodes
	ops := make([]framework.TxnOp, t.N, t.N+1)
	for i := range ops {
		ops[i] = of.createOp(c.attempt.Data)
	}
	t.Leave()
	t.left = true
	results, err := of.Client.Transaction(ctx, append(ops, framework.DeleteOp(t.Gate.Path, framework.AnyVersion))...)
	var failed *framework.TxnError
	switch {
	case reason.As(err, &failed) && failed.Index == t.N && reason.Is(err, zk.ErrNoNode):
		return nil, errStale
	case err != nil:
		return nil, err
	}
	nodes, given := createdBy(results[:t.N]), false
	defer func() {
		for _, n := range nodes {
			if !given { // the caller has gone, or a context of the user's own has panicked
				framework.Extend(of.Client).DeleteInBackground(n.Path)
			}
		}
	}()
	if err := granted(ctx); err != nil {
		return nil, err
	}
	given = true
	return nodes, nil
}

// taken is a look at the places.
type taken struct {
	taken            []string
	limit            int
	changed, limited *framework.Watch // of the places, and of the limit; nil if there is none
	gate             *framework.Watch // of our node at the gate; nil if its claim watches it
}

func (l taken) fits(n int) bool { return n <= l.limit-len(l.taken) }

func (l taken) stop() {
	for _, w := range []*framework.Watch{l.changed, l.limited, l.gate} {
		if w != nil {
			w.Stop()
		}
	}
}

func doneOf(w *framework.Watch) <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.Done()
}

// look looks at the places and at the limit. If the parent is missing, no place
// is taken, and none will be before our turn ends.
func (p *Places) look(c *contender, t *Turn, watch bool) (l taken, err error) {
	ctx, of := t.Open, p.loop.nodes
	if watch {
		l.taken, _, l.changed, err = of.Client.ChildrenW(ctx, of.Path)
	} else {
		l.taken, err = insider.Of(of.Client).Siblings(ctx, of.Path)
	}
	if err == nil {
		c.warnOfOthers(l.taken)
	}
	if err == nil || reason.Is(err, zk.ErrNoNode) {
		l.limit, l.limited, err = p.readLimit(ctx, t.Wanted, watch)
	}
	if err == nil && t.left && watch {
		there := false
		if there, _, l.gate, err = of.Client.ExistsW(ctx, c.node.Path); err == nil && !there {
			err = errStale
		}
	}
	if c.node.Session.Context().Err() != nil {
		err = errStale
	}
	return l, err
}

// readLimit reads the limit, and tells it.
func (p *Places) readLimit(ctx context.Context, want Wanted, watch bool) (n int, changed *framework.Watch, err error) {
	n, changed, err = p.limit(ctx, watch)
	if err == nil && want.OnLimit != nil {
		want.OnLimit(n)
	}
	return n, changed, err
}

// noteTaken records how many places are taken, and by whom the first, to name one
// in errors.
func (c *contender) noteTaken(names []string) {
	var first Entry
	for e := range InListing(names, c.loop.nodes.Kinds...).each {
		if first.Node == "" || compare(e, first) < 0 {
			first = e
		}
	}
	c.noteQueue(first.Node, len(names))
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
