package leader_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// failures is what a server does with requests, and whether an error says so.
var failures = map[string]struct {
	do      zktest.Action
	isNamed func(error) bool
}{
	"throttled": {zktest.Fail(zkinside.ErrThrottled), isThrottled},
	"hang-ups":  {zktest.DropRequest(), framework.IsConnectionError},
}

func isThrottled(err error) bool {
	code, ok := framework.ServerCode(err)
	return ok && code == -127
}

// The deletion is made again and again, and not given up yet.
func TestShutdownNamesTheLastErrorOfTheDeletion(t *testing.T) {
	for name, tc := range failures {
		for _, who := range []string{"leader", "candidate"} {
			t.Run(name+"/"+who, func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					first, second, _, _ := w.leaderAndNext(t, "/l")
					synctest.Wait() // the candidate knows its node
					closed, other := first, second
					if who == "candidate" {
						closed, other = second, first
					}
					trouble := w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Times: -1, Do: tc.do})
					for range 3 {
						err := closed.Shutdown(recipetest.Within(t, time.Second))
						if name == "throttled" { // else there may be no connection then
							require.ErrorIs(t, err, context.DeadlineExceeded)
						}
						require.True(t, tc.isNamed(err), "%v", err)
					}
					trouble.Remove()
					time.Sleep(2 * time.Minute) // the client pauses between deletions
					require.NoError(t, closed.Shutdown(t.Context()))
					w.closeAll(t, "/l", other)
				})
			})
		}
	}
}
