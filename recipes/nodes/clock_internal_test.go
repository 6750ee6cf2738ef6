package nodes

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// The clock that tells of suspensions is the user's code, which may ask the node
// in turn, or not return. Nobody else holds the mutex while these ask it.
func TestNoMutexOfANodeIsHeldWhileTheSuspendClockIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var node atomic.Pointer[PersistentNode]
		var asked, locked atomic.Int32
		srv := zktest.Start(t)
		c := curatortest.Connect(t, srv, framework.WithSuspendClock(func() time.Duration {
			if n := node.Load(); n != nil {
				asked.Add(1)
				if n.mu.TryLock() {
					n.mu.Unlock()
				} else {
					locked.Add(1)
				}
			}
			return 0
		}))
		n, err := NewPersistentNode(c, "/a", nil, WithTTL(time.Minute))
		require.NoError(t, err)
		_, err = n.WaitRegistered(t.Context())
		require.NoError(t, err)
		for name, asks := range map[string]func(){
			"Registration":   func() { n.Registration() },
			"WaitRegistered": func() { n.WaitRegistered(t.Context()) },
			"Changes": func() {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				n.Changes(ctx)
			},
			"debug page": func() { insider.Of(c).Recorder().Followers().Registrations.All() },
			"past":       n.notePast,
			"hidden":     func() { n.hasNode() },
			"the keeper": func() { require.NoError(t, srv.Delete("/a")) },
		} {
			synctest.Wait()
			asked.Store(0)
			node.Store(n)
			asks()
			synctest.Wait()
			node.Store(nil)
			require.Positive(t, asked.Load(), name)
			require.Zero(t, locked.Load(), name)
		}
		require.NoError(t, n.Shutdown(t.Context()))
	})
}
