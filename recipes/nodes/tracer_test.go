package nodes_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
)

// A tracer that blocks holds up neither the node nor the end of the client for
// more than a few seconds. It is told of the operations when it goes on.
func TestTracerThatBlocks(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		tracer := &locktest.Valve{}
		c, _ := w.Connect(t, framework.WithHooks(tracer))
		n := start(t, c, "/a", "one")
		w.ready(t, n)
		settle()
		require.Positive(t, tracer.Operations.Load())
		open := tracer.Close()
		defer open()
		w.Fake.Session(c.SessionID()).Expire()
		time.Sleep(5 * time.Second)
		require.Equal(t, c.SessionID(), w.ownerOf("/a"))
		require.NoError(t, n.Set(recipetest.Within(t, 5*time.Second), []byte("two")))
		require.NoError(t, n.Shutdown(recipetest.Within(t, 5*time.Second)))
		require.Equal(t, "-", w.dataOf("/a"))
		begun := time.Now()
		require.NoError(t, c.Close())
		require.Less(t, time.Since(begun), 3*time.Second)
	})
}
