package nodes_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// The server hangs up on the value, as it does on what is longer than its
// jute.maxbuffer. The node asks less and less often, so that the others of this
// client are interrupted less and less often, and whoever waits for it hears why.
func TestValueThatMakesServersHangUpIsNamed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var log recipetest.Log
		c, _ := w.Connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		hangUps := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/pn", Times: -1, Do: zktest.DropRequest()})
		n, err := nodes.NewPersistentNode(c, "/pn", make([]byte, 120_000))
		require.NoError(t, err)
		for _, patience := range []time.Duration{10 * time.Second, 10 * time.Minute} {
			_, err = n.WaitRegistered(recipetest.Within(t, patience))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorContains(t, err, "connections have ended with this request under way: create /pn, 1200")
		}
		require.LessOrEqual(t, hangUps.Hits(), 25)
		require.Equal(t, 1, strings.Count(log.String(), "zookeeper servers end the connection whenever they get a request"), log.String())

		hangUps.Remove()
		require.NoError(t, n.Set(w.Patience(t), []byte("short")))
		_, err = n.WaitRegistered(w.Patience(t))
		require.NoError(t, err)
		require.NoError(t, n.Shutdown(t.Context()))
	})
}
