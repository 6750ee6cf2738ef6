package scenarios

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/nodes"
)

// A node with a time to live is there as long as its owner says so, but for the time
// until that hears of its deletion.
func TestPersistentNodeWithATimeToLive(t *testing.T) { explore.Search(t, timeToLive, quick()) }

func timeToLive(w *explore.World) {
	w.Node("/workers", "")
	w.Actor("A", func(a *explore.Actor) {
		k, err := keep(a, "/workers/w", "one", nodes.WithTTL(time.Minute))
		if err != nil {
			refuse(w, a, err)
			return
		}
		k.late(w)
		_ = a.Call("wait", func(ctx context.Context) error {
			_, err := k.node.WaitRegistered(ctx)
			return err
		})
		time.Sleep(2 * time.Second)
		_ = a.Call("set", func(ctx context.Context) error { return k.node.Set(ctx, []byte("two")) })
		time.Sleep(20 * time.Second)
		if a.Call("shut down", k.node.Shutdown) == nil {
			<-k.node.Done()
		}
	})
	w.Actor("B", func(a *explore.Actor) {
		time.Sleep(time.Second)
		_ = a.Call("delete", func(ctx context.Context) error {
			return a.Client().Delete(ctx, "/workers/w", framework.AnyVersion, framework.WithChildren())
		})
	})
}

// late fails the run if the node says for too long what is not so: for longer than an
// outage that a client has to notice by itself.
func (k *kept) late(w *explore.World) {
	const bound = 8 * time.Second
	var since time.Time // of what the node says now, or zero if that is so
	w.Always(func(tree explore.Tree) error {
		err := k.check(tree)
		switch {
		case err == nil:
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case min(time.Since(since), w.Quiet()) > bound:
			return err
		}
		return nil
	})
}
