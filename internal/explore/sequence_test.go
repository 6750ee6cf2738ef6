package explore

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

func TestSequenceOfAWorld(t *testing.T) {
	_, f := find(t, func(w *World) {
		w.Node("/n", "")
		w.Sequence("/n", 1<<31-1)
		w.Actor("A", func(a *Actor) {
			_ = a.Call("create", func(ctx context.Context) error {
				made, err := a.Client().Create(ctx, "/n/", nil, framework.WithMode(framework.PersistentSequential))
				if err == nil && made.Path != "/n/2147483647" {
					w.Fail("the first is %s", made.Path)
				}
				return err
			})
		})
	}, Limits{Deviations: 1, Workers: 1})
	require.Nil(t, f)
}
