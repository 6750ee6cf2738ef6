package recipes_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// counted is a loop with a number each second, which ends with an error, or waits.
func counted(n int, end error) func(context.Context) iter.Seq2[int, error] {
	return func(ctx context.Context) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			for i := range n {
				if ctx.Err() != nil || !yield(i+1, nil) {
					return
				}
				select {
				case <-time.After(time.Second):
				case <-ctx.Done():
				}
			}
			if end != nil {
				yield(0, end)
				return
			}
			<-ctx.Done()
		}
	}
}

// Promise: Stream delivers every value of a loop, and Latest the newest one, to a reader
// that is slower than the loop. Both deliver the last value before the channel is closed.
func TestStreamAndLatestOfASlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := errors.New("ended")
		read := func(values <-chan int) (all []int) {
			time.Sleep(2500 * time.Millisecond)
			for v := range values {
				all = append(all, v)
				time.Sleep(2 * time.Second)
			}
			return all
		}
		all, stop := recipes.Stream(t.Context(), counted(5, end))
		require.Equal(t, []int{1, 2, 3, 4, 5}, read(all))
		require.Equal(t, end, stop())
		latest, stop := recipes.Latest(t.Context(), counted(6, end))
		require.Equal(t, []int{3, 5, 6}, read(latest))
		require.Equal(t, end, stop())
		require.Equal(t, end, stop())
	})
}

// Promise: Nothing of a Stream is left when stop returns or ctx has ended, whether its
// loop has a value that was not received, or waits for one.
func TestStreamLeavesNothing(t *testing.T) {
	for name, stream := range map[string]func(context.Context, func(context.Context) iter.Seq2[int, error]) (<-chan int, func() error){
		"stream": recipes.Stream[int], "latest": recipes.Latest[int],
	} {
		for _, values := range []int{0, 1, 3} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { // the bubble fails if a goroutine is left
					_, stop := stream(t.Context(), counted(values, nil))
					synctest.Wait()
					require.NoError(t, stop())

					ctx, cancel := context.WithCancel(t.Context())
					all, stop := stream(ctx, counted(values, nil))
					time.Sleep(10 * time.Second)
					cancel()
					for range all {
						continue
					}
					require.NoError(t, stop())

					_, _ = stream(ctx, counted(values, nil)) // ended before it begins
				})
			})
		}
	}
}

// Promise: The stream of a recipe's loop ends with the client, and stop returns why.
func TestStreamEndsWithTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		require.NoError(t, s.srv.Create("/tree", nil))
		tree, err := cache.New(s.client, "/tree")
		require.NoError(t, err)
		steps, stopSteps := recipes.Stream(t.Context(), tree.Steps)
		leaders, stopLeaders := recipes.Latest(t.Context(), func(ctx context.Context) iter.Seq2[locks.Participant, error] {
			return leader.Observe(ctx, s.client, "/leader")
		})
		require.Equal(t, "/tree", (<-steps).Changes[0].New.Path)
		require.Equal(t, "nobody", (<-leaders).String())
		require.NoError(t, s.client.Close())
		for range steps {
			continue
		}
		_, open := <-leaders
		require.False(t, open)
		require.ErrorIs(t, stopSteps(), framework.ErrClosed)
		require.ErrorIs(t, stopLeaders(), framework.ErrClosed)
	})
}
