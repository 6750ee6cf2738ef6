package recipes

import (
	"context"
	"iter"
)

// Stream runs a loop over Changes, Steps or Observe on a goroutine, and returns its
// values as a channel, for a select:
//
//	changes, stop := recipes.Stream(ctx, services.Changes)
//	defer stop()
//
// The channel has every value of the loop. While the reader does not receive, the loop
// waits with one value, and the next value has what has changed meanwhile, by the rule
// of the loop for slow readers. See Latest for a reader that wants the newest value.
//
// The channel is closed when the loop has ended: with an error, with ctx, or by stop.
// The function stop ends the loop, waits until its goroutine has ended, and returns the
// loop's error, or nil if ctx or stop has ended it. Call stop, or end ctx: otherwise the
// goroutine waits for a reader forever. stop may be called more than once.
func Stream[T any](ctx context.Context, loop func(context.Context) iter.Seq2[T, error]) (values <-chan T, stop func() error) {
	return stream(ctx, loop, make(chan T))
}

// Latest is Stream for a reader that wants the newest value alone, such as who leads:
// a value that was not received when the next one comes is dropped. The last value of
// the loop is received before the channel is closed.
func Latest[T any](ctx context.Context, loop func(context.Context) iter.Seq2[T, error]) (values <-chan T, stop func() error) {
	return stream(ctx, loop, make(chan T, 1))
}

// stream sends the values of a loop. It replaces the value in the buffer, if there is a
// buffer.
func stream[T any](ctx context.Context, loop func(context.Context) iter.Seq2[T, error], values chan T) (<-chan T, func() error) {
	ctx, cancel := context.WithCancel(ctx)
	var failed error
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer close(values)
		defer cancel()
		for v, err := range loop(ctx) {
			if failed = err; err != nil {
				return
			}
			if cap(values) > 0 {
				select {
				case <-values:
				default:
				}
			}
			select {
			case values <- v:
			case <-ctx.Done():
				return
			}
		}
	}()
	return values, func() error {
		cancel()
		<-over
		return failed
	}
}
