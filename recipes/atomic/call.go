package atomic

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// change says what to do with a node's data, which it must not change. It is
// called for each try.
type change func(data []byte) step

// step is what a change does.
type step struct {
	data   []byte // the node's data afterwards
	writes bool   // the change is a write, even if the data stays the same
	err    error  // the change's own error; it writes nothing then
}

// call makes one change: it reads the node, unless the node is remembered, and
// writes what the change makes of it, if the node is still as it was. Otherwise it
// tries again.
type call struct {
	*node
	ctx      context.Context
	change   change
	recovery *follow.Recovery

	synced  bool           // the next read must see all that was committed before it
	unknown bool           // the change may be applied, and nothing tells
	pauses  pauses.Growing // before creates, and after writes that were not applied for another reason

	beaten  int   // how often another client has written first
	since   int32 // the version for which that was first, or with which a rest began
	awaited bool  // the call has waited for the end of a run since it was beaten last
}

func (n *node) newCall(ctx context.Context, change change) *call {
	recovery := &follow.Recovery{Client: n.client, Ends: isHangUp, Awaited: true}
	ctx = framework.Extend(n.client).OnError(ctx, recovery.Note)
	return &call{node: n, ctx: ctx, change: change, recovery: recovery, pauses: pauses.Vanished()}
}

// isHangUp reports whether servers hang up on a request. It is not repeated: each
// attempt interrupts all other requests of the client.
func isHangUp(err error) bool { return reason.Is(err, &framework.HangUpError{}) }

// do makes a change. If the error does not match framework.ErrOutcomeUnknown,
// nothing was applied, and nothing will be. The change's own error is returned as
// it is.
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

// try makes the change once. It reports whether that was the last try.
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
		c.synced = true // the answer must not be out of date
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

// base returns the node as the change may take it to be, and whether it was read
// after the server has caught up.
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

// readNode reads the node, and remembers it.
func (c *call) readNode(synced bool) (*snapshot, error) {
	before, began := c.shared().seen, c.now()
	s, err := c.read(c.path, synced)
	if err == nil {
		c.noteRead(before, s)
		c.noteRoundTrip(began)
	}
	return s, err
}

// read reads a node. With synced it sees everything that was committed before.
func (c *call) read(path string, synced bool) (s *snapshot, err error) {
	err = c.recovery.Until(c.ctx, func(ctx context.Context) error {
		session := c.client.SessionID()
		// Only in the session of the sync does the read follow the sync.
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

// create makes the node without any data, which stands for the zero value. So it
// does not matter whose create was applied, if the reply is lost. A node that is
// there already is read before it is written, because it may be ephemeral. A node that
// somebody deletes time and again is created after pauses.
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
	return c.outlast(err)
}

// outlast waits until it is time to try again after an error. It returns an error
// if waiting does not cure it, or if the caller's context ends.
func (c *call) outlast(err error) error {
	err = c.recovery.Wait(c.ctx, err)
	if err != nil && c.ctx.Err() != nil {
		return c.recovery.GaveUp(c.ctx)
	}
	return err
}

// write writes the data if the node is still as it was in base. It reports whether
// it did.
func (c *call) write(base *snapshot, data []byte) (done bool, err error) {
	v, err := c.writeInTurn(base, data)
	if v == unsent {
		return false, err
	}
	if v == refused {
		if err = c.outlast(err); err == nil {
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

// writeInTurn writes if no other goroutine of this process has changed the node
// since base was read.
func (c *call) writeInTurn(base *snapshot, data []byte) (verdict, error) {
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
		return unsent, c.outlast(err)
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
