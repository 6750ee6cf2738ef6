package snapshot_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/debug/snapshot"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// encoding/json writes no year beyond 9999. The clock of a server that is wrong
// takes nothing but the time from the answer.
func TestTimesOfServersThatMakeNoSense(t *testing.T) {
	for _, year := range []int{10000, 200000, -1} {
		synctest.Test(t, func(t *testing.T) {
			wrong := time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)
			srv := zktest.Start(t, zktest.WithWallClock(func() time.Time { return wrong }))
			holder, waiter := curatortest.Connect(t, srv), curatortest.Connect(t, srv)
			_, err := locks.NewInterProcessMutex(holder, "/lock").Acquire(t.Context())
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			lock := locks.NewInterProcessMutex(waiter, "/lock")
			for range 2 { // at the server, and in the process
				go lock.Acquire(ctx)
				synctest.Wait()
			}
			time.Sleep(time.Second) // the second has read the holder's node
			s := snapshot.Of(waiter)
			text, err := json.Marshal(s)
			require.NoError(t, err, year)
			var back snapshot.Snapshot
			require.NoError(t, json.Unmarshal(text, &back))
			require.Len(t, back.Clients[0].Waits.Items, 2)
			for _, w := range back.Clients[0].Waits.Items {
				require.NotEmpty(t, w.Holder.Node)
				require.Zero(t, w.Holder.Since)
			}
			require.NotContains(t, asText(t, waiter), ") for ", "nobody knows for how long")
		})
	}
}

// An event of another day has its date.
func TestTextHasTheDateOfOlderEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := curatortest.Connect(t, zktest.Start(t), framework.WithSessionTimeout(40*time.Second))
		opened := time.Now().Format("2006-01-02 15:04:05.000")
		require.NotContains(t, asText(t, c), opened)
		time.Sleep(25 * time.Hour)
		lease, err := locks.NewInterProcessMutex(c, "/lock").Acquire(t.Context())
		require.NoError(t, err)
		require.NoError(t, lease.Release(t.Context()))
		require.Contains(t, asText(t, c), "    "+opened+"  client")
		require.Contains(t, asText(t, c), time.Now().Format("    15:04:05.000 "))
	})
}
