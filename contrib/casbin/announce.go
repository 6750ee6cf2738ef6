package zkwatcher

import (
	"context"
	"errors"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/shared"
)

// ErrPending means that the others were not told of a change yet, because the
// servers do not answer. The Watcher tells them as soon as they do.
var ErrPending = errors.New("other instances are not told yet of a change of the policy")

// patience is how long Update waits. A SyncedEnforcer makes no decision
// meanwhile.
const patience = time.Second

// announcement is one write that tells the others of all changes before it.
type announcement struct {
	done chan struct{} // closed when err is set
	err  error
}

// Update tells the other instances that the policy has changed. It is for
// casbin, which calls it after each change that an enforcer has made.
//
// It returns nil when the change is written: each other instance begins a
// callback after that, also one that is cut off at the moment, as soon as it is
// not. If there is no answer within a second, the error matches ErrPending, and
// the Watcher goes on to tell the others until it is closed or its process
// ends. The next Update does not wait then. A refusal of the server is
// returned, and not repeated. A Watcher that has ended returns what Err does.
func (w *Watcher) Update() error {
	a, wait := w.register()
	if a == nil {
		return w.value.Err()
	}
	enough := time.NewTimer(wait)
	defer enough.Stop()
	select {
	case <-a.done:
		return a.err
	case <-enough.C:
		return w.giveUp(a)
	}
}

// register returns an announcement that has not begun, and how long to wait for
// it, or nil if the Watcher has ended. A callback that runs may have read the
// policy before the change, and undo it in memory. So it is called again,
// unless it has made the change itself.
func (w *Watcher) register() (a *announcement, wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calling.goroutine != goroutine() {
		w.calling.again = true
	}
	if w.over {
		return nil, 0
	}
	if w.pending == nil {
		w.pending = &announcement{done: make(chan struct{})}
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
	if w.silence {
		return w.pending, 0
	}
	return w.pending, patience
}

// giveUp ends the wait for an announcement, which may just be done.
func (w *Watcher) giveUp(a *announcement) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-a.done:
		return a.err
	default:
		w.silence = true
		return ErrPending
	}
}

// announceAll lives until the Watcher has ended.
func (w *Watcher) announceAll() {
	for {
		select {
		case <-w.wake:
			if a := w.take(false); a != nil {
				w.end(a, w.announce())
			}
		case <-w.value.Done():
			if a := w.take(true); a != nil {
				w.end(a, w.neverTold(w.value.Err()))
			}
			return
		}
	}
}

// take takes what is pending, the last time if the Watcher is over.
func (w *Watcher) take(over bool) *announcement {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.pending
	w.pending, w.over = nil, over
	return a
}

func (w *Watcher) end(a *announcement, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silence = false
	a.err = err
	close(a.done)
}

// announce writes a change. It goes on until that is done, the server refuses
// it, or the Watcher has ended.
func (w *Watcher) announce() error {
	var pause pauses
	for {
		_, err := w.value.Update(context.Background(), w.next)
		if err == nil || errors.Is(err, shared.ErrNodeReplaced) { //nolint:forbidigo // its context has no end; the new node has the change
			return nil
		}
		if !isLasting(err) {
			w.warnOnce(&pause, ErrPending.Error(), err)
			if w.wait(&pause) {
				continue
			}
			err = w.value.Err()
		}
		return w.neverTold(err)
	}
}

// neverTold logs that an announcement is given up, and returns the reason.
func (w *Watcher) neverTold(err error) error {
	w.warn("other instances are never told of a change of the policy", err)
	return err
}

// isLasting reports whether it is in vain to repeat a write.
func isLasting(err error) bool {
	return framework.IsRefusal(err) ||
		errors.Is(err, shared.ErrClosed) || errors.Is(err, framework.ErrClosed) //nolint:forbidigo // the context of a write has no end
}
