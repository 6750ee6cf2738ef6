package scenarios

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/explore"
)

// A node with a time to live is there until it is shut down, and for that time.
func TestPersistentNodeWithATimeToLive(t *testing.T) { explore.Search(t, timeToLive, quick()) }

func timeToLive(w *explore.World) {
	w.Node("/workers", "")
	w.Actor("A", func(a *explore.Actor) {
		k, err := keep(a, "/workers/w", "one", nodes.WithTTL(time.Minute))
		if err != nil {
			refuse(w, a, err)
			return
		}
		k.deletable, k.persistent = true, true
		_ = a.Call("wait", func(ctx context.Context) error {
			_, err := k.node.WaitRegistered(ctx)
			return err
		})
		time.Sleep(2 * time.Second)
		_ = a.Call("set", func(ctx context.Context) error { return k.node.Set(ctx, []byte("two")) })
		time.Sleep(time.Second)
		if a.Call("shut down", k.node.Shutdown) == nil {
			<-k.node.Done()
		}
	})
	w.Actor("B", func(a *explore.Actor) {
		time.Sleep(time.Second)
		deleteBelow(a, "/workers")
	})
}
