package locks_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

func handOverAt(c *framework.Client) locks.Locker {
	return locks.NewInterProcessMutex(c, "/l", handingOver(2, time.Minute))
}

func multiAt(c *framework.Client) locks.Locker {
	return locks.NewInterProcessMultiLock(locks.SortedMutexes(c, []string{"/l/a", "/l/b"})...)
}

// A server fails at the creation of the node, and may have made it. The acquire
// has failed, and the client deletes what there may be.
func TestAcquireAtWhichTheServerFailsIsNotOfUnknownOutcome(t *testing.T) {
	for _, kind := range kindsOfLocks {
		t.Run(kind.name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				acquire, after := kind.taker(t, c)
				w.Fake.Inject(zktest.Rule{Optional: true, Op: kind.creation(), Do: zktest.Fail(zkinside.ErrSystem)})
				_, err := acquire(t.Context())
				var answer *framework.ServerError
				require.ErrorAs(t, err, &answer)
				require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
				require.NotContains(t, err.Error(), framework.ErrOutcomeUnknown.Error())
				after()
				for _, path := range kind.paths {
					w.WaitNodes(t, path, 0)
				}
			})
		})
	}
}
