package framework

import (
	"context"
	"errors"
	"runtime/pprof"
)

// errNoReturn is the error of a function of the user's that has ended its
// goroutine instead of returning, as a test's FailNow does.
var errNoReturn = errors.New("function of the user's has ended its goroutine")

// callApart calls a function of the user's on a goroutine of its own, and waits
// for it. It is for callers that must go on in any case: the library's loop,
// without which there is never a connection again, what ends a client, and all
// who log. A panic is the caller's, as if the function had been called directly.
// Goroutines that the function starts are the user's, and have no label of the
// client.
func callApart[T any](f func() (T, error)) (v T, err error) {
	done := make(chan struct{})
	var panicked any
	err = errNoReturn // it stays if f does not return
	go func() {
		pprof.SetGoroutineLabels(context.Background())
		defer close(done)
		defer func() { panicked = recover() }()
		v, err = f()
	}()
	<-done
	if panicked != nil {
		panic(panicked)
	}
	return v, err
}
