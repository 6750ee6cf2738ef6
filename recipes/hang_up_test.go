package recipes_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// Servers that know no containers, and end the connection when they are asked for
// one, keep nobody from doing what others do: the parents are persistent then.
func TestServersThatHangUpOnContainersHaveAllRecipes(t *testing.T) {
	t.Parallel()
	var need atomic.Int32
	t.Cleanup(func() { require.Greater(t, need.Load(), int32(10), "operations that need a container") })
	for _, op := range everyOperation {
		if op.name == "create a container" { // there is nothing else that it could mean
			continue
		}
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			asked := func(rules ...zktest.Rule) (containers int, err error) {
				synctest.Test(t, func(t *testing.T) {
					s := newScene(t)
					for _, r := range rules {
						s.srv.Inject(r)
					}
					call := op.prepare(t, s)
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					err = call(ctx)
					containers = s.srv.CountRequests(zktest.OpCreateContainer)
				})
				return containers, err
			}
			if needed, err := asked(); needed == 0 || err != nil {
				return
			}
			need.Add(1)
			containers, err := asked(zktest.Rule{Op: zktest.OpCreateContainer, Times: -1, Do: zktest.DropRequest()})
			require.NoError(t, err)
			require.LessOrEqual(t, containers, 12, "of two clients, perhaps")
		})
	}
}
