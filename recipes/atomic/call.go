package atomic

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// change computes the next step from a node's data, which it must not modify. It is called
// for each try.
type change func(data []byte) step

// step is the result of a change.
type step struct {
	data   []byte // the data to write
	writes bool   // write, even if the data are unchanged
	err    error  // of the change; write nothing
}

// call makes one change: it reads the node, unless the node is remembered, and writes the
// result on condition that the node is unchanged. If the node has changed, the call tries
// again.
type call struct {
	*node
	ctx      context.Context
	change   change
	recovery *follow.Recovery

	synced  bool           // the next read must see all transactions committed before it
	unknown bool           // the change may be applied; the outcome is lost
	pauses  pauses.Growing // before creates, and after writes that were not applied without a conflict

	beaten  int   // how often another client has written first
	since   int32 // the version at the first of these conflicts, or at the beginning of a rest
	awaited bool  // the call has waited for the end of a run since the last conflict
}

func (n *node) newCall(ctx context.Context, change change) *call {
	recovery := &follow.Recovery{Client: n.client, Ends: isHangUp, Awaited: true}
	ctx = framework.Extend(n.client).OnError(ctx, recovery.Note)
	return &call{node: n, ctx: ctx, change: change, recovery: recovery, pauses: pauses.Vanished()}
}

// isHangUp reports whether servers close the connection on a request. Such a request is not
// repeated, because each attempt interrupts all other requests of the client.
func isHangUp(err error) bool { return reason.Is(err, &framework.HangUpError{}) }

// do makes a change. Unless the error matches framework.ErrOutcomeUnknown, nothing was
// applied, and nothing will be. do returns the error of the change unchanged.
func (n *node) do(ctx context.Context, op string, change change) (step, error) {
	if err := n.refuse(op, false); err != nil {
		return step{}, err
	}
	c := n.newCall(ctx, change)
	s, err := c.run()
	if err != nil {
		return step{}, n.failedChange(op, err, c.unknown)
	}
	return s, s.err
}

func (c *call) run() (step, error) {
	for {
		s, done, err := c.try()
		if done || err != nil {
			return s, err
		}
	}
}

// try tries to make the change once, and reports whether the call is done.
func (c *call) try() (s step, done bool, err error) {
	c.rest()
	base, fresh, err := c.base()
	if err != nil {
		return step{}, false, err
	}
	s = c.change(base.data)
	refusal := base.refusal()
	switch {
	case !fresh && (!s.writes || refusal != nil):
		c.synced = true // the result must not rest on old data
		return s, false, nil
	case !s.writes:
		return s, true, nil
	case refusal != nil:
		return s, false, refusal
	case !base.exists:
		return s, false, c.create()
	case c.awaitEnd(base):
		return s, false, nil
	}
	done, err = c.write(base, s.data)
	return s, done, err
}

// base returns the node for the change, and whether the node was read after a sync.
func (c *call) base() (s *snapshot, fresh bool, err error) {
	if err := c.takeTurn(); err != nil {
		return nil, false, err
	}
	defer c.endTurn()
	return c.baseInTurn()
}

func (c *call) baseInTurn() (s *snapshot, fresh bool, err error) {
	if s := c.recall(); s != nil && !c.synced {
		return s, false, nil
	}
	if s, err = c.readNode(c.synced); err != nil {
		return nil, false, err
	}
	fresh, c.synced = c.synced, false
	return s, fresh, nil
}

func (c *call) takeTurn() error {
	if c.ctx.Err() == nil {
		select {
		case c.turn <- struct{}{}:
			return nil
		case <-c.ctx.Done():
		}
	}
	return c.recovery.GaveUp(c.ctx)
}

func (c *call) endTurn() { <-c.turn }

// readNode reads the node and remembers it.
func (c *call) readNode(synced bool) (*snapshot, error) {
	before, began := c.shared().seen, c.now()
	s, err := c.read(c.path, synced)
	if err == nil {
		c.noteRead(before, s)
		c.noteRoundTrip(began)
	}
	return s, err
}

// read reads a node. With synced, the read sees all transactions committed before it.
func (c *call) read(path string, synced bool) (s *snapshot, err error) {
	err = c.recovery.Until(c.ctx, func(ctx context.Context) error {
		session := c.client.SessionID()
		// The read follows the sync only in the same session.
		return c.client.InSession(ctx, func(ctx context.Context) error {
			if synced {
				if err := c.client.Sync(ctx, path); err != nil {
					return err
				}
			}
			data, stat, err := c.client.Get(ctx, path)
			switch {
			case err == nil:
				s = c.snapshotOf(session, data, stat)
			case reason.Is(err, zk.ErrNoNode):
				s = &snapshot{at: c.now(), session: session}
			default:
				return err
			}
			return nil
		})
	})
	return s, err
}

// create creates the node empty, which counts as the zero value. So if the reply is lost,
// it does not matter which client has created the node. A node that already exists is read
// before it is written, because it may be ephemeral. create pauses before each repetition,
// because another client may keep deleting the node.
func (c *call) create() error {
	_ = follow.Pause(c.ctx, c.client, &c.pauses) // if ctx has ended, Create says so
	session, before := c.client.SessionID(), c.shared().seen
	created, err := c.client.Create(c.ctx, c.path, nil, framework.WithParents())
	if err == nil {
		c.noteRead(before, &snapshot{at: c.now(), session: session, exists: true, czxid: created.Czxid})
		return nil
	}
	c.forget(false)
	if reason.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return c.retryAfter(err)
}

// retryAfter waits until it is time to try again after an error. It returns an error if no
// retry can cure err, or if the caller's context ends.
func (c *call) retryAfter(err error) error {
	err = c.recovery.Wait(c.ctx, err)
	if err != nil && c.ctx.Err() != nil {
		return c.recovery.GaveUp(c.ctx)
	}
	return err
}

// write writes the data on condition that the node is unchanged since base, and reports
// whether it did.
func (c *call) write(base *snapshot, data []byte) (done bool, err error) {
	v, err := c.writeInTurn(base, data)
	if v == unsent {
		return false, err
	}
	if v == refused {
		if err = c.retryAfter(err); err == nil {
			v = again
		}
	}
	c.events.Emit(eventsWritten[v], err)
	switch v {
	case applied:
		return true, nil
	case conflict:
		c.giveWay(base)
		return false, nil
	case again:
		_ = follow.Pause(c.ctx, c.client, &c.pauses) // if ctx has ended, the next try says so
		return false, nil
	case lost:
		c.unknown = true
		c.events.Emit(eventOutcomeUnknown, err)
	}
	return false, err
}

// writeInTurn writes, unless another goroutine of this process has changed the node since
// base.
func (c *call) writeInTurn(base *snapshot, data []byte) (outcome, error) {
	if err := c.takeTurn(); err != nil {
		return unsent, err
	}
	defer c.endTurn()
	now, _, err := c.baseInTurn()
	if err != nil || !now.isSame(base) {
		return unsent, err
	}
	w := &write{call: c, base: base, data: data}
	if err := w.takeReceipt(); err != nil {
		return unsent, c.retryAfter(err)
	}
	v, err := w.settle()
	switch v {
	case conflict:
		c.forget(true)
	case lost:
		c.forget(false)
		c.dropReceipt()
	}
	return v, err
}
