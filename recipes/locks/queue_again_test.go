package locks_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// Somebody deletes the node of a waiter, or the node's parent as well
// (CURATOR-211, CURATOR-315). The waiter queues again.
func TestWaitersOfEveryKindQueueAgain(t *testing.T) {
	for _, kind := range kindsOfLocks {
		if kind.name == "downgrade" { // a downgrade does not wait
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx := w.Patience(t)
				c, _ := w.Connect(t)
				rival, _ := w.Connect(t)
				holder := must(kind.blocker(rival)(ctx))(t)
				acquire, _ := kind.taker(t, c)
				got := make(chan lease)
				go func() { got <- must(acquire(ctx))(t) }()
				for range 3 {
					time.Sleep(5 * time.Second) // the node watchers have begun to watch
					for _, path := range kind.paths {
						for _, name := range w.Fake.Children(path) {
							if n, _ := w.Fake.Node(path + "/" + name); n.Stat.EphemeralOwner == c.SessionID() {
								err := w.Fake.Delete(path + "/" + name)
								if err != nil { // a multi-lock gives up its other nodes when it has lost one
									require.ErrorIs(t, err, zktest.Code(zkinside.ErrNoNode))
								}
							}
						}
					}
				}
				time.Sleep(5 * time.Second)
				select {
				case <-got:
					t.Fatal("admitted beside the holder")
				default:
				}
				require.NoError(t, holder.Context().Err())
				require.NoError(t, holder.Release(ctx))
				l := <-got
				require.NoError(t, l.Context().Err())
				require.NoError(t, l.Release(ctx))
				for _, path := range kind.paths {
					w.WaitNodes(t, path, 0)
				}
				w.NoWatches(t)
			})
		})
	}
}
