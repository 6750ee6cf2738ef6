package seat

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/order"
	"github.com/gocurator/curator/recipes/locktrace"
)

// Turn is a contender's turn to take places: the leases of a semaphore.
type Turn struct {
	Of   *Lock           // the lock whose nodes are the places
	Gate *Hold           // the hold on the gate; no other contender passes the gate while its node exists
	Open context.Context // ends with the turn, and also with the context of Take
	Wanted

	c *contender
}

// Wanted says how many places a contender wants, and how many there may be. If watch is
// true, Limit also returns a watch that fires when the limit may have changed. The watch
// is nil if the limit cannot change.
type Wanted struct {
	N     int
	Limit func(ctx context.Context, watch bool) (n int, changed *framework.Watch, err error)
}

// ErrTurnOver means that the turn ended before places were taken.
var ErrTurnOver = errors.New("the turn is over")

// Take waits until the wanted places fit under the limit, or only tries. One transaction
// takes all places, and also ends the turn by deleting the node at the gate. So no other
// contender can have taken a place meanwhile, and if the node at the gate is gone, no
// place is taken. The caller must delete the places' nodes. If these nodes can no longer
// be trusted, Take itself deletes them and returns no hold.
//
// A waiter retries through every outage, as a contender does.
func (t Turn) Take(ctx context.Context, a Attempt) (*Hold, *NotAdmitted) {
	l, c := t.Of, newContender(t.Of, a)
	t.c, c.node = c, t.Gate.seat.nodes[0]
	client := framework.Extend(l.cfg.Client)
	ctx, t.Open = client.OnError(ctx, c.recovery.Note), client.OnError(t.Open, c.recovery.Note)
	for {
		nodes, err := t.step(ctx)
		switch {
		case err == nil:
			c.recovery.Recovered()
			l.refused.Store(nil)
			t.Gate.seat.spent.Store(true)
			h := newHold(l, c.data, nil, nodes...)
			if h == nil { // the nodes can no longer be trusted
				deleteInBackground(l.cfg.Client, nodes)
				c.trace.Distrusted(l.cfg.Client, nodes[0])
			}
			return h, nil
		case reason.Is(err, errAgain):
			c.recovery.Recovered()
		case !reason.Is(err, errStale) && t.Open.Err() == nil && c.retries(t.Open, err):
		default:
			c.tellAbandoned(err)
			if reason.Is(err, errStale) {
				err = ErrTurnOver
			}
			return nil, c.refuse(t.Open, err)
		}
	}
}

// step reads the places once. A waiter first reads them without watches, because that is
// usually enough.
func (t *Turn) step(ctx context.Context) ([]framework.Created, error) {
	c := t.c
	now, err := t.read(false)
	if err == nil && !now.fits(t.N) && c.waits {
		now, err = t.read(true)
		defer now.stop()
	}
	switch {
	case err != nil:
		return nil, err
	case now.fits(t.N):
		return t.take(ctx)
	}
	c.noteQueue(firstOf(now.taken, c.lock.cfg.Kinds), len(now.taken))
	c.readHolder(t.Open)
	if !c.waits {
		return nil, errHeld
	}
	c.trace.Waiting(locktrace.Waiting{Position: c.seen.Ahead, Holder: c.holder()})
	c.tellBlocked()
	err = c.await(t.Open, now.changes(), nil)
	if reason.Is(err, errAgain) {
		c.trace.Woken(false)
	}
	return nil, err
}

// mostPlaces is more than fits into any request.
const mostPlaces = 1 << 20

// take creates the places' nodes, and deletes the node at the gate.
func (t *Turn) take(ctx context.Context) ([]framework.Created, error) {
	if t.N > mostPlaces {
		return nil, framework.ErrRequestTooLarge
	}
	of := &t.Of.cfg
	ops := make([]framework.TxnOp, t.N, t.N+1)
	for i := range ops {
		ops[i] = framework.CreateOp(t.Of.newNode, t.c.data, asPlace...)
	}
	results, err := of.Client.Transaction(ctx, append(ops, framework.DeleteOp(t.c.node.Path, framework.AnyVersion))...)
	var failed *framework.TxnError
	switch {
	case reason.As(err, &failed) && failed.Index == t.N && reason.Is(err, zk.ErrNoNode):
		return nil, errStale
	case err != nil:
		return nil, err
	}
	nodes := make([]framework.Created, t.N)
	for i, r := range results[:t.N] {
		nodes[i] = framework.Created{Path: r.Path, Czxid: r.Zxid, Session: r.Session}
	}
	if err := stillWanted(ctx); err != nil {
		deleteInBackground(of.Client, nodes)
		return nil, err
	}
	return nodes, nil
}

// taken is a read of the places.
type taken struct {
	taken   []string
	limit   int
	watches [2]*framework.Watch // on the places, and on the limit; each may be nil
}

func (l taken) fits(n int) bool { return n <= l.limit-len(l.taken) }

func (l taken) stop() {
	for _, w := range l.watches {
		if w != nil {
			w.Stop()
		}
	}
}

// changes are the events that end the wait after a read.
func (l taken) changes() (first changes) {
	for i, w := range l.watches {
		if w != nil {
			first[i] = w.Done()
		}
	}
	return first
}

// read reads the places and the limit. If the parent is missing, no place is taken, and
// no other contender can take one during this turn.
func (t *Turn) read(watch bool) (now taken, err error) {
	ctx, of := t.Open, &t.Of.cfg
	if watch {
		now.taken, _, now.watches[0], err = of.Client.ChildrenW(ctx, of.Path)
	} else {
		now.taken, err = insider.Of(of.Client).Siblings(ctx, of.Path)
	}
	if err == nil {
		t.Of.warnOfOthers(now.taken)
	}
	if err == nil || reason.Is(err, zk.ErrNoNode) {
		now.limit, now.watches[1], err = t.Limit(ctx, watch)
	}
	if t.c.node.Session.Context().Err() != nil {
		err = errStale
	}
	return now, err
}

// firstOf returns the node of the first contender in a listing, for errors.
func firstOf(names, kinds []string) string {
	return order.StandingOf(order.Entry{}, order.InListing(names, kinds...), order.Exclusive).First
}
