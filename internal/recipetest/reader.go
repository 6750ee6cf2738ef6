package recipetest

import (
	"context"
	"iter"
	"testing"
)

// Read reads a sequence on a separate goroutine until the test ends. next waits for the
// next value, and fails the test if there is none. An error in the sequence fails the
// test, too.
func Read[T any](t *testing.T, w *World, sequence func(context.Context) iter.Seq2[T, error]) (next func() T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	values := make(chan T, 1000)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for v, err := range sequence(ctx) {
			if err != nil {
				t.Error(err)
			}
			values <- v
		}
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	patience := w.Patience(t)
	return func() (v T) {
		t.Helper()
		select {
		case v = <-values:
		case <-patience.Done():
			t.Fatal("the sequence has no further value")
		}
		return v
	}
}
