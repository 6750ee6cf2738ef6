package scenarios

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/zktest"
)

// vanishes is a node that somebody deletes as soon as it is there, as the actor
// learns that often.
func vanishes(a *explore.Actor, times int, ops ...zktest.Op) {
	for range times {
		for _, op := range ops {
			a.Meets(op, zktest.Fail(zktest.ErrNoNode))
		}
	}
}

// A call goes on although its node is deleted time and again, or others are faster.
// It ends with the client, as do its pauses.
func TestCallsOfAClientThatGoOnUntilItIsClosed(t *testing.T) {
	const often = 60
	for name, call := range map[string]func(ctx context.Context, a *explore.Actor) error{
		"sequence": func(ctx context.Context, a *explore.Actor) error {
			vanishes(a, often, zktest.OpSetData)
			_, err := atomic.NewSequence(a.Client(), "/node").Next(ctx)
			return err
		},
		"shared value that is written": func(ctx context.Context, a *explore.Actor) error {
			v, err := shared.NewValue(a.Client(), "/node", codec.Bytes(), []byte("seed"))
			if err != nil {
				return err
			}
			defer v.Close() //nolint:errcheck // it ends with the client
			if err := v.WaitSynced(ctx); err != nil {
				return err
			}
			vanishes(a, often, zktest.OpMulti)
			return v.Set(ctx, []byte("new"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			explore.Search(t, func(w *explore.World) {
				w.Actor("A", closed.beside(func(a *explore.Actor) {
					_ = a.Call("goes on", func(ctx context.Context) error { return call(ctx, a) })
				}, 3*time.Second))
			}, brief())
		})
	}
}

// Another one writes whenever the function of an update is called, which is not called
// when the client is closed.
func TestSharedValueThatOthersUpdate(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Node("/value", "seed")
		var other *explore.Actor
		w.Actor("B", func(b *explore.Actor) {
			other = b
			time.Sleep(20 * time.Second)
		})
		w.Actor("A", closed.beside(func(a *explore.Actor) {
			v, err := shared.NewValue(a.Client(), "/value", text, "seed")
			if err != nil {
				refuse(w, a, err)
				return
			}
			defer v.Close() //nolint:errcheck // it ends with the client
			// What the function waits for does not end with the client.
			_ = a.CallWithin("update", time.Minute, func(ctx context.Context) error {
				_, err := v.Update(ctx, func(string) (string, error) {
					if a.Closed() {
						w.Fail("the client is closed, and the function of an update is called")
					}
					_, _ = other.Client().Set(ctx, "/value", []byte("theirs"), framework.AnyVersion)
					return "mine", nil
				})
				return err
			})
		}, 3*time.Second))
	}, brief())
}
