package explore

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// A server whose wall clock is another one writes other times into its nodes.
func TestServerOptionsOfAWorld(t *testing.T) {
	for _, members := range []int{1, 3} {
		_, f := find(t, func(w *World) {
			then := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
			w.ServerOptions(zktest.WithWallClock(func() time.Time { return then }))
			w.Ensemble(members)
			w.Actor("A", func(a *Actor) {
				_ = a.Call("create", func(ctx context.Context) error {
					if _, err := a.Client().Create(ctx, "/n", nil); err != nil {
						return err
					}
					_, stat, err := a.Client().Get(ctx, "/n")
					if err == nil && stat.Ctime != then.UnixMilli() {
						w.Fail("the node is of %v", time.UnixMilli(stat.Ctime))
					}
					return err
				})
			})
		}, Limits{Deviations: 1, Workers: 1})
		require.Nil(t, f)
	}
}
