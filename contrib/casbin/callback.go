package zkwatcher

import (
	"bytes"
	"context"
	"errors"
	"runtime"
)

// errNoReturn is the error of a callback that does not return.
var errNoReturn = errors.New("callback has ended its goroutine")

// callInProgress is the callback that runs.
type callInProgress struct {
	goroutine string // the name of its goroutine, or empty
	again     bool   // there was an Update meanwhile
}

// follow calls back for each change, until the Watcher has ended.
func (w *Watcher) follow() {
	select {
	case <-w.ready:
	case <-w.value.Done():
		return
	}
	var last known
	for now, err := range w.value.Changes(context.Background()) {
		if err != nil {
			return // the Watcher has ended
		}
		next, news := w.isNews(now, last)
		if news {
			w.callUntilLoaded()
		}
		last = next
	}
}

// callUntilLoaded calls back until that succeeds, and the policy was not
// changed meanwhile.
func (w *Watcher) callUntilLoaded() {
	var pause pauses
	for w.value.Err() == nil {
		again, err := w.call()
		if err == nil && !again {
			return
		}
		if err == nil {
			continue
		}
		w.warnOnce(&pause, "policy could not be loaded", err)
		if !w.wait(&pause) {
			return
		}
	}
}

// call calls back once, on a goroutine of its own: it may end that.
func (w *Watcher) call() (again bool, err error) {
	err = errNoReturn
	done := make(chan struct{})
	go func() {
		defer close(done)
		callback := w.begin()
		err = callback()
	}()
	<-done
	return w.returned(), err
}

func (w *Watcher) begin() (callback func() error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calling = callInProgress{goroutine: goroutine()}
	if w.load != nil {
		return w.load
	}
	classic := w.callback
	return func() error { classic(""); return nil }
}

func (w *Watcher) returned() (again bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calling.goroutine = ""
	return w.calling.again
}

func (w *Watcher) isInCallback() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calling.goroutine == goroutine()
}

// goroutine returns the name of the goroutine that calls it, such as "goroutine
// 7 ".
func goroutine() string {
	var trace [64]byte
	name, _, _ := bytes.Cut(trace[:runtime.Stack(trace[:], false)], []byte("["))
	return string(name)
}
