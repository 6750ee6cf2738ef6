package recipes

import (
	"context"
	"iter"
)

// Stream runs a loop such as Changes, Steps or Observe in a goroutine, and sends its
// values to a channel, for use in a select:
//
//	changes, stop := recipes.Stream(ctx, services.Changes)
//	defer stop()
//
// The channel receives every value of the loop. While the reader does not receive, the
// loop waits with one value. The next value then includes all changes in the meantime, as
// the loop documents for slow readers. For a reader that wants only the newest value, use
// Latest.
//
// The channel is closed when the loop has ended: with an error, with ctx, or by stop. The
// function stop ends the loop and waits for its goroutine. It returns the loop's error,
// or nil if ctx or stop has ended the loop. Call stop or end ctx: otherwise the goroutine
// may wait for a reader forever. You may call stop more than once.
func Stream[T any](
	ctx context.Context, loop func(context.Context) iter.Seq2[T, error],
) (values <-chan T, stop func() error) {
	return stream(ctx, loop, make(chan T))
}

// Latest is Stream for a reader that wants only the newest value, for example the current
// leader: each new value replaces a value that was not received. The reader receives the
// last value of the loop before the channel is closed.
func Latest[T any](
	ctx context.Context, loop func(context.Context) iter.Seq2[T, error],
) (values <-chan T, stop func() error) {
	return stream(ctx, loop, make(chan T, 1))
}

// stream sends the values of a loop. If the channel has a buffer, a new value replaces
// the value in it.
func stream[T any](
	ctx context.Context, loop func(context.Context) iter.Seq2[T, error], values chan T,
) (<-chan T, func() error) {
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
