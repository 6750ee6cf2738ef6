package locks_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// Somebody deletes the node of each attempt, so that the acquire pauses between
// them. If the client is closed meanwhile, the pause is over.
//
// Promise: A pause between two attempts ends when the client is closed.
func TestPauseOfAnAcquireEndsWithItsClient(t *testing.T) {
	for name, tc := range map[string]struct {
		lock   func(c *framework.Client) locks.Locker
		parent string // of the nodes
		delete zktest.Op
		when   func(func(zktest.Request)) zktest.Action
	}{
		"mutex":     {mutexAt, "/l", zktest.OpCreate, zktest.CallAfter},
		"semaphore": {semaphoreAt, "/l/locks", zktest.OpMulti, zktest.Call},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				require.NoError(t, locktest.Acquire(t, w.Patience(t), tc.lock(c)).Release(t.Context()))
				w.Fake.Inject(zktest.Rule{Optional: true, Op: tc.delete, Session: c.SessionID(), Times: -1, Do: tc.when(func(zktest.Request) {
					for _, name := range w.Fake.Children(tc.parent) {
						w.Fake.Delete(tc.parent + "/" + name)
					}
				})})
				waiting := locktest.AcquireLater(w.Patience(t), tc.lock(c))
				time.Sleep(30*time.Second + time.Millisecond)
				require.False(t, waiting.IsOver())
				require.NoError(t, c.Close())
				synctest.Wait()
				require.True(t, waiting.IsOver(), "it does not wait for the end of its pause")
				require.ErrorIs(t, waiting.Err, framework.ErrClosed)
			})
		})
	}
}
