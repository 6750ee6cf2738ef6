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

const hungUp = "connections have ended with this request of 1200"

// The server hangs up on the value, as it does on what is longer than its
// jute.maxbuffer. The node says so, and asks every few minutes, so that the others of
// this client are hardly interrupted. A shorter value does not wait for that, whether
// the node was there before or not.
func TestValueThatMakesServersHangUpIsNamed(t *testing.T) {
	long := make([]byte, 120_000)
	for name, tc := range map[string]struct {
		op   zktest.Op
		opts []nodes.Option
	}{
		"created":            {zktest.OpCreate, nil},
		"created, not ours":  {zktest.OpCreate, []nodes.Option{nodes.WithMode(framework.Persistent)}},
		"written":            {zktest.OpSetData, nil},
		"written, not owned": {zktest.OpSetData, []nodes.Option{nodes.WithMode(framework.Persistent)}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				var log recipetest.Log
				c, _ := w.Connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
				hangUps := w.Fake.Inject(zktest.Rule{Optional: true, Op: tc.op, Path: "/pn", Times: -1, Do: zktest.DropRequest()})
				first := long
				if tc.op == zktest.OpSetData {
					first = nil
				}
				n, err := nodes.NewPersistentNode(c, "/pn", first, tc.opts...)
				require.NoError(t, err)
				for _, patience := range []time.Duration{10 * time.Second, time.Hour} {
					if tc.op == zktest.OpCreate {
						_, err = n.WaitRegistered(recipetest.Within(t, patience))
					} else {
						_, err = n.WaitRegistered(w.Patience(t))
						require.NoError(t, err)
						err = n.Set(recipetest.Within(t, patience), long)
					}
					require.ErrorIs(t, err, context.DeadlineExceeded)
					require.ErrorIs(t, err, &framework.HangUpError{})
					require.ErrorContains(t, err, hungUp)
				}
				require.LessOrEqual(t, hangUps.Hits(), 20)
				require.Equal(t, 1, strings.Count(log.String(), "zookeeper connections end whenever a request is in flight"), log.String())

				hangUps.Remove()
				begin := time.Now()
				require.NoError(t, n.Set(w.Patience(t), []byte("short")))
				_, err = n.WaitRegistered(w.Patience(t))
				require.NoError(t, err)
				require.Less(t, time.Since(begin), time.Second)
				stored, _ := w.Fake.Node("/pn")
				require.Equal(t, "short", string(stored.Data))
				require.NoError(t, n.Shutdown(t.Context()))
			})
		})
	}
}

// While a node pauses because servers hang up on a Set, the node keeps the data that it
// had, and is watched: if it is deleted, it is created again at once. The Set succeeds when
// the servers take its data.
func TestDeletedNodeIsRepairedWhileServersHangUpOnItsNewData(t *testing.T) {
	for name, mode := range map[string]framework.Mode{"ephemeral": framework.Ephemeral, "persistent": framework.Persistent} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				other, _ := w.Connect(t)
				n := start(t, c, "/pn", "old", nodes.WithMode(mode))
				w.ready(t, n)
				hangUps := w.Fake.Inject(zktest.Rule{Op: zktest.OpSetData, Path: "/pn", Times: -1, Do: zktest.DropRequest()})
				long := make([]byte, 120_000)
				require.ErrorIs(t, n.Set(recipetest.Within(t, 10*time.Second), long), &framework.HangUpError{})

				require.NoError(t, other.Delete(t.Context(), "/pn", framework.AnyVersion))
				time.Sleep(10 * time.Second)
				require.Equal(t, "old", w.dataOf("/pn"))
				w.ready(t, n)
				require.ErrorIs(t, n.LastError(), &framework.HangUpError{})

				hangUps.Remove()
				time.Sleep(10 * time.Minute)
				require.Equal(t, string(long), w.dataOf("/pn"))
				require.NoError(t, n.LastError())
			})
		})
	}
}
