package atomic

import (
	"context"
	"slices"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/random"
	"github.com/gocurator/curator/internal/reason"
)

// round carries out the changes of several callers together: it reads the node,
// unless it knows it, makes all changes one after the other, and writes what
// comes out, if the node is still as it was. If it is not, the round begins
// anew.
type round struct {
	*cell
	ctx    context.Context // alive as long as a caller is left and the client is open
	cancel context.CancelFunc

	calls  []*call
	steps  []step // one for each call
	live   int    // how many callers are left; protected by mu
	closed bool   // nobody joins any more
	synced bool   // the next read must see all that was written before it
	fresh  bool   // it did
	beaten int    // how often somebody else has written first, also in earlier tries of a call
	hold   *hold  // the lock, or nil

	vanished pauses.Growing // somebody deletes the receipts, or writes to them

	promotion *promotion // the one under way, or nil; protected by mu
}

func (r *round) run() {
	defer r.cancel()
	defer r.demote()
	for r.admit() {
		if err := r.try(); err != nil {
			r.fail(err)
		}
	}
}

// leftLocked notes that a caller has gone.
func (r *round) leftLocked(w *call) {
	r.live--
	if r.promotion != nil {
		r.promotion.leftLocked(r, w)
	}
	if r.live == 0 {
		r.cancel()
	}
}

func (r *round) hasCallers() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live > 0
}

// admit takes in those who wait, and drops those who have gone. It reports
// whether there is anything to do.
func (r *round) admit() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if begins := r.calls == nil; !r.closed && (begins || r.live > 0) {
		r.calls = append(r.calls, r.waiting...)
		for _, w := range r.waiting {
			w.round = r
			if w.update != nil {
				r.beaten = max(r.beaten, w.update.beaten)
			}
		}
		r.live += len(r.waiting)
		r.waiting = nil
	}
	r.calls = slices.DeleteFunc(r.calls, func(w *call) bool { return w.left || w.over })
	return len(r.calls) > 0
}

// try makes all changes once. An error ends the calls that are left.
func (r *round) try() error {
	base, err := r.base()
	if err != nil {
		return err
	}
	data := r.compose(base.data)
	switch {
	case !slices.ContainsFunc(r.steps, func(s step) bool { return s.writes }):
		if r.fresh || !slices.ContainsFunc(r.steps, func(s step) bool { return !s.guess }) {
			r.finish()
			return nil
		}
		r.forget()
		r.synced = true // the answers would be of some time before
		return nil
	case !base.exists:
		return r.create()
	case base.owner != 0:
		r.failWriters(ErrEphemeral)
		return nil
	case base.version == framework.AnyVersion:
		r.failWriters(ErrNoVersion)
		return nil
	}
	return r.write(base, data)
}

// compose makes the changes one after the other, and returns the data that the
// node has then.
func (r *round) compose(data []byte) []byte {
	r.steps = r.steps[:0]
	for _, w := range r.calls {
		s := w.change(data)
		if s.writes {
			data = s.data
		}
		r.steps = append(r.steps, s)
	}
	return data
}

// write writes the data, if the node is still as it was.
func (r *round) write(base snapshot, data []byte) error {
	w := &write{round: r, base: base, data: data}
	if err := w.takeReceipt(); err != nil {
		return r.beginAnew(err)
	}
	if !r.markSent() {
		return nil
	}
	verdict, err := w.do()
	r.events.Emit(eventsWritten[verdict], err)
	if verdict != lost && verdict != applied {
		r.markNotSent()
	}
	switch verdict {
	case applied:
		if r.unseen++; r.unseen >= r.longestRun() {
			r.forget() // and so let others be the first
		}
		r.finish()
		return nil
	case conflict:
		r.forget()
		r.beaten++
		r.beatenAt = r.now()
		return r.giveWay()
	case again:
		return nil
	case lost:
		r.forget()
		r.dropReceipt()
		if r.hasCallers() { // those that have gone have logged it
			r.events.Emit(eventOutcomeUnknown, err)
		}
		r.failWriters(unknown(err))
		return nil
	default: // refused
		return r.refused(err)
	}
}

// markSent notes, just before a write is sent, that the changes in it may be
// applied from here on. It reports false, and notes nothing, if a caller has
// gone since it was composed: that caller was told that nothing was applied.
func (r *round) markSent() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(r.calls, func(w *call) bool { return w.left }) {
		return false
	}
	for i, w := range r.calls {
		w.sent = r.steps[i].writes
	}
	return true
}

// markNotSent notes that nothing of a write was applied, nor will be.
func (r *round) markNotSent() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.calls {
		w.sent = false
	}
}

// refused decides about a write that the server or the client has refused. One
// caller alone may be the reason, such as one with too much data, so each gets
// its own answer.
func (r *round) refused(err error) error {
	if len(r.calls) == 1 {
		return err
	}
	r.putBack(r.calls[1:])
	r.calls, r.closed = r.calls[:1], true
	return nil
}

// putBack lets calls wait for the next round.
func (r *round) putBack(calls []*call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var stay []*call
	for _, w := range calls {
		w.round = nil
		if !w.left {
			r.live--
			stay = append(stay, w)
		}
	}
	r.waiting = append(stay, r.waiting...)
}

// finish ends the round with an answer for each caller.
func (r *round) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, w := range r.calls {
		r.shareLocked(w, r.steps[i])
		w.endLocked(r.steps[i])
	}
	r.closed = true
}

// fail ends the round with an error for each caller.
func (r *round) fail(err error) { r.failAll(func(*call) error { return err }) }

// failAll is fail with an error of its own for each call. The round's mutex is
// held while errorOf is called.
func (r *round) failAll(errorOf func(*call) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.calls {
		w.endLocked(step{err: errorOf(w)})
	}
	r.closed = true
}

// failWriters ends the round with an error for each caller that had a part in
// the write. The others wait for the next round.
func (r *round) failWriters(err error) {
	var readers []*call
	r.mu.Lock()
	for i, w := range r.calls {
		if r.steps[i].writes {
			w.endLocked(step{err: err})
		} else {
			readers = append(readers, w)
		}
	}
	r.mu.Unlock()
	r.putBack(readers)
	r.calls, r.closed = nil, true
}

func (w *call) endLocked(result step) {
	if !w.over {
		w.over, w.result = true, result
		close(w.done)
	}
}

// longestPause bounds the pauses between two tries.
const longestPause = 64 * time.Millisecond

// giveWay lets others go first for some time, which is random, or waits for the
// lock if there is one for callers that were beaten too often.
func (r *round) giveWay() error {
	switch {
	case r.hold != nil:
		return nil
	case r.cfg.lockPath != "" && r.beaten >= r.cfg.tries:
		return r.promote()
	case r.beaten == 1:
		return nil
	}
	_ = pauses.Sleep(r.ctx, random.Duration(min(time.Millisecond<<min(r.beaten, 16), longestPause)))
	return nil // if the round has ended, the next request says so
}

// beginAnew waits until the round may begin anew, after an error of what a write
// needs. If waiting does not cure that, the write is refused.
func (r *round) beginAnew(err error) error {
	if err := r.outlast(err); err != nil {
		return r.refused(err)
	}
	return nil
}

// outlast waits until it is time to try again after an error. It returns the
// error if waiting does not cure it.
func (r *round) outlast(err error) error {
	return r.orClosed(r.recovery.Wait(r.ctx, err))
}

// until makes requests until they succeed, or fail with an error that waiting does
// not cure, which it returns.
func (r *round) until(do func() error) error {
	return r.orClosed(r.recovery.Until(r.ctx, func(context.Context) error { return do() }))
}

// orClosed returns an error as one of the client's end if the round has ended.
// Nobody reads it if that is so because all callers have gone.
func (r *round) orClosed(err error) error {
	if err != nil && (r.ctx.Err() != nil || reason.Is(err, framework.ErrClosed)) {
		return framework.ErrClosed
	}
	return err
}
