package nodes_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// Data is refused before the node was ever there, or after earlier data was
// promised. The node gets the last data that nobody refuses.
func TestRefusedDataDoesNotDropEarlierData(t *testing.T) {
	for name, promised := range map[string][]string{"first data": nil, "an earlier Set": {"one", "two"}} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, network := w.Connect(t)
				network.Refuse(true)
				network.Cut()
				n := start(t, c, "/a", "zero")
				want := "zero"
				for _, want = range promised {
					require.ErrorIs(t, n.Set(recipetest.Within(t, time.Second), []byte(want)), context.DeadlineExceeded)
				}
				got := make(chan error)
				for range 2 {
					go func() { got <- n.Set(w.Patience(t), []byte(strings.Repeat("x", 2<<20))) }()
				}
				synctest.Wait()
				network.Refuse(false)
				for range 2 {
					require.ErrorIs(t, <-got, framework.ErrRequestTooLarge)
				}
				w.ready(t, n)
				// The node is there, but perhaps with earlier data: a create that waits
				// for the connection has the data of the moment in which it began, and
				// the Sets came later. In that case the write that follows is under
				// way. The server answers at once, so that write is done when every
				// goroutine is blocked.
				synctest.Wait()
				require.NoError(t, n.Err())
				require.Equal(t, want, w.dataOf("/a"))
			})
		})
	}
}

// A node keeps the data of the last Sets only. If the server refuses all of these, a Set
// whose data was dropped fails, but not with the refusal of data that is not its own.
func TestDroppedSetHasNoRefusalOfALaterSet(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n := start(t, c, "/a", "old")
		w.ready(t, n)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpSetData, Do: zktest.DelayReply(time.Second)})
		written, dropped, refused := make(chan error, 1), make(chan error, 1), make(chan error)
		go func() { written <- n.Set(w.Patience(t), []byte("in hand")) }() // its request is at the server
		synctest.Wait()
		go func() { dropped <- n.Set(w.Patience(t), []byte("dropped")) }()
		synctest.Wait()
		const later = 9
		for range later {
			go func() { refused <- n.Set(w.Patience(t), []byte(strings.Repeat("x", 2<<20))) }()
		}
		synctest.Wait()
		for range later {
			require.ErrorIs(t, <-refused, framework.ErrRequestTooLarge)
		}
		err := <-dropped
		require.ErrorContains(t, err, "dropped for the data of later calls")
		require.NotErrorIs(t, err, framework.ErrRequestTooLarge)
		require.NoError(t, <-written)
		require.Equal(t, "in hand", w.dataOf("/a"))
		require.NoError(t, n.Err())
	})
}

// The parent of the node vanishes as often as the client makes it. That says nothing
// about the data, which the node gets at last.
//
// Promise: A node whose parents vanish again and again is created with its data.
func TestParentsThatVanishDoNotTakeTheData(t *testing.T) {
	for name, mode := range map[string]framework.Mode{
		"ephemeral": framework.Ephemeral, "sequential": framework.EphemeralSequential, "persistent": framework.Persistent,
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				vanishes := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Times: 20, Do: zktest.Fail(zkinside.ErrNoNode)})
				n := start(t, c, "/a", "ours", nodes.WithMode(mode))
				r := w.ready(t, n)
				require.Equal(t, 20, vanishes.Hits())
				require.Equal(t, "ours", w.dataOf(r.Path))
			})
		})
	}
}
