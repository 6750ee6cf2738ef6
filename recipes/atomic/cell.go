package atomic

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// cell is a node whose data is one value. Callers say how they want to change
// it. One worker at a time carries their changes out, as many as there are in
// one write. It runs on a goroutine of the client, and only while somebody
// waits.
type cell struct {
	client *framework.Client
	path   string
	cfg    config
	events event.Source

	loads  *cell // carries the Loads out, so that they do not wait for writes
	writes *cell // the cell that this one carries Loads out for, or nil

	mu      sync.Mutex // protects the following fields, and the calls' fields that say so
	waiting []*call    // for the next round
	working bool       // there is a worker
	receipt receipt    // only the worker changes it
	loaded  snapshot   // what a Load saw last; zero once it is used
	held    *hold      // the lock, or nil

	// These fields are the worker's.
	recovery follow.Recovery // within a round; all may ask for its trouble
	seen     snapshot
	unseen   int       // how many writes were applied since the node was read
	beatenAt time.Time // when another one was faster last; or zero
	number   int64     // the number of the last write that had a receipt
}

// change says what to do with a node's data. It must not change the data that
// it gets. It is called again for each try, and has no side effects.
type change func(data []byte) step

// step is what one change does.
type step struct {
	data   []byte // the node's data afterwards
	writes bool   // the change is a write, even if the data stays the same
	guess  bool   // the data that it was made from may be out of date
	err    error  // this change's own error; it writes nothing then
}

// call is a change that somebody waits for.
type call struct {
	change change
	ctx    context.Context // the caller's
	done   chan struct{}   // closed by the worker at the end
	update *updating       // that this is a try of, or nil

	// These fields are protected by the cell's mu.
	round *round // the round that it is in, or nil
	sent  bool   // a write with this change was sent, and may be applied
	left  bool   // the caller has gone
	over  bool   // done is closed

	promotion *promotion // the wait for the lock that ends because this caller, and the last others, have gone; or nil

	result step // written before done is closed
}

// do has a change carried out. If the error does not match
// framework.ErrOutcomeUnknown, nothing of it was applied, and never will be.
func (c *cell) do(ctx context.Context, op string, change change) ([]byte, bool, error) {
	return c.doTry(ctx, op, change, nil)
}

// doTry is do for a try of an Update.
func (c *cell) doTry(ctx context.Context, op string, change change, u *updating) ([]byte, bool, error) {
	if c == nil {
		return nil, false, &framework.OpError{Op: op, Err: errNotMade}
	}
	err := c.cfg.fault
	var done step
	if err == nil {
		done, err = c.await(ctx, &call{change: change, ctx: ctx, done: make(chan struct{}), update: u})
	}
	if err != nil {
		return nil, false, &framework.OpError{Op: op, Path: c.path, Err: withoutOp(err)}
	}
	return done.data, done.writes, nil
}

// load is do for a change that never writes, and whose answer is of now.
func (c *cell) load(ctx context.Context, op string, read change) ([]byte, error) {
	if c != nil && c.cfg.fault == nil {
		c = c.loads
	}
	data, _, err := c.do(ctx, op, read)
	return data, err
}

func (c *cell) await(ctx context.Context, w *call) (step, error) {
	if ctx.Err() != nil {
		return step{}, reason.OfContext(ctx)
	}
	if !c.enqueue(w) {
		return step{}, framework.ErrClosed
	}
	select {
	case <-w.done:
	case <-ctx.Done():
	}
	if !c.leave(w) {
		return step{}, c.gaveUp(ctx, w)
	}
	return w.result, w.result.err
}

// enqueue adds a call, and starts the worker if there is none. It reports
// whether the client is open.
func (c *cell) enqueue(w *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, w)
	if c.working {
		return true
	}
	if !framework.Extend(c.client).Go(c.work) {
		c.waiting = nil
		return false
	}
	c.working = true
	return true
}

// leave notes that a caller has gone, unless the call is over, so that there is a
// result. It reports whether there is.
func (c *cell) leave(w *call) (over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case w.left: // another one has seen that the caller's context has ended
		return false
	case w.over:
		return true
	}
	w.left = true
	if w.round != nil {
		w.round.leftLocked(w)
	} else {
		c.waiting = slices.DeleteFunc(c.waiting, func(other *call) bool { return other == w })
	}
	return false
}

// gaveUp is the error of a caller whose context has ended.
func (c *cell) gaveUp(ctx context.Context, w *call) error {
	c.mu.Lock()
	sent, p := w.sent, w.promotion
	c.mu.Unlock()
	err := reason.OfContext(ctx)
	if p != nil {
		err = p.inVain(err)
	}
	if trouble := c.recovery.Obstacle(); trouble != nil {
		err = fmt.Errorf("%w (last error: %w)", err, asReason(trouble))
	}
	if sent {
		err = unknown(err)
		c.events.Emit(eventOutcomeUnknown, err)
	}
	return err
}

// work carries out rounds until nobody waits.
func (c *cell) work(ctx context.Context) {
	var r *round
	defer func() {
		if r != nil { // the user's code has ended the goroutine, as runtime.Goexit does
			c.replaceWorker(r)
		}
	}()
	for r = c.nextRound(ctx); r != nil; r = c.nextRound(ctx) {
		r.run()
	}
}

// replaceWorker ends the calls of a round whose goroutine has ended, and has
// another goroutine carry out the calls that wait for the next round.
func (c *cell) replaceWorker(r *round) {
	r.dropReceipt()
	c.forget()
	r.failAll(func(w *call) error {
		if w.sent {
			return unknown(follow.ErrNoReturn)
		}
		return follow.ErrNoReturn
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.working = len(c.waiting) > 0 && framework.Extend(c.client).Go(c.work)
	if c.working {
		return
	}
	for _, w := range c.waiting {
		w.endLocked(step{err: framework.ErrClosed})
	}
	c.waiting = nil
}

func (c *cell) nextRound(ctx context.Context) *round {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		c.working = false
		return nil
	}
	c.recovery.Recovered()
	r := &round{cell: c, vanished: pauses.Vanished()}
	if c.writes != nil { // a Load is never of what is known already
		c.seen, r.synced = snapshot{}, true
	}
	r.ctx, r.cancel = context.WithCancel(framework.Extend(c.client).OnTrouble(ctx, c.recovery.Note))
	return r
}
