package watches

// A watch is done when it has fired, could not be set, nobody waits for it any
// more, or its session has ended.
// A client may have thousands, and most have one waiter, which waits in one of
// these ways. So a watch has only what somebody has asked for.

// Done returns a channel that is closed when the watch is done.
func (w *Watch) Done() <-chan struct{} {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	if w.done == nil {
		w.done = make(chan struct{})
		if w.isDone {
			close(w.done)
		}
	}
	return w.done
}

// readyLocked returns a channel that is closed when the read that sets the watch
// is answered, or will not be. It is for a watch that is not settled.
func (w *Watch) readyLocked() <-chan struct{} {
	if w.ready == nil {
		w.ready = make(chan struct{})
	}
	return w.ready
}

// afterFunc is a function that is called when a watch is done. It is in a list,
// because it may be taken back before, and thousands may wait for one watch.
type afterFunc struct {
	of         *Watch
	f          func() // nil when it is called, or was taken back
	prev, next *afterFunc
}

// AfterFunc calls f on a goroutine of its own when the watch is done: at once, if
// it is. The function returned takes that back, and reports whether it was in time.
func (w *Watch) AfterFunc(f func()) (stop func() bool) {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	if w.isDone {
		go f()
		return func() bool { return false }
	}
	added := &afterFunc{of: w, f: f, next: w.after}
	if w.after != nil {
		w.after.prev = added
	}
	w.after = added
	return added.takeBack
}

func (a *afterFunc) takeBack() bool {
	w := a.of
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	if a.f == nil {
		return false
	}
	a.f = nil
	if a.next != nil {
		a.next.prev = a.prev
	}
	if a.prev != nil {
		a.prev.next = a.next
	} else {
		w.after = a.next
	}
	return true
}

// tellDoneLocked tells all who wait that the watch is done.
func (w *Watch) tellDoneLocked() {
	if w.done != nil {
		close(w.done)
	}
	for a := w.after; a != nil; a = a.next {
		go a.f()
		a.f = nil
	}
	w.after = nil
}
