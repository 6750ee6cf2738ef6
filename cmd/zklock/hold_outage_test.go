package main

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// When the session could keep the lock for the rest, there is no connection, and
// the servers count the timeout from the last one. The program stays until they
// have heard of it again, and writes then that the lock is kept.
//
// Promise: After an outage, zklock run --hold-at-least exits only while its session keeps the lock.
func TestHoldAtLeastStaysInAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leastTime := time.Minute
		srv := zktest.Start(t)
		c := curatortest.Connect(t, srv, framework.WithSessionTimeout(30*time.Second))
		lease, err := locks.NewInterProcessMutex(c, "/l", locks.WithMinimumHold(leastTime)).Acquire(t.Context())
		require.NoError(t, err)
		begin := time.Now()
		time.AfterFunc(25*time.Second, func() { srv.RefuseConnections(true); srv.CutAll() })
		time.AfterFunc(42*time.Second, func() { srv.RefuseConnections(false) })

		g := &guarded{env: &env{streams: streams{err: io.Discard}}, client: c, path: "/l", stop: &stopping{}}
		f := &runFlags{atLeast: new(time.Duration), holdAtLeast: &leastTime}
		time.Sleep(28 * time.Second)
		require.NoError(t, g.lossAtTheEnd(lease))
		f.stay(g, lease, begin)
		require.NoError(t, lease.Context().Err())
		require.Less(t, time.Since(begin), leastTime)
		g.release(t.Context(), lease)
		require.NoError(t, c.Close())
		require.Contains(t, string(srv.Queue("/l")[0].Data), `"kept":"`)
		time.Sleep(time.Until(begin.Add(leastTime)))
		require.Len(t, srv.Children("/l"), 1)
		time.Sleep(time.Minute)
		require.Empty(t, srv.Children("/l"))
	})
}
