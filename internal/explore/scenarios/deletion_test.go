package scenarios

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/testing/zktest"
)

// A client deletes a node over its version. Somebody else writes it, and deletes
// what it has written. So the version that goes tells whose deletion that was, and
// each is told so, or that it is of unknown outcome.
func TestDeleteOfAClientOfWhatAnotherDeletes(t *testing.T) {
	for _, c := range writeTroubles {
		t.Run(c.name, func(t *testing.T) {
			explore.Search(t, startsWith(c.with(zktest.OpDelete), twoDeletions), brief())
		})
	}
}

func twoDeletions(w *explore.World) {
	w.Node("/n", "old")
	there, version := true, int32(0) // of the node, or of what was deleted
	see := func(tree explore.Tree) error {
		n, is := tree["/n"]
		if there = is; is {
			version = n.Stat.Version
		}
		return nil
	}
	w.Always(see)
	w.AtEnd(see)
	deletes := func(a *explore.Actor, over int32) {
		err := a.Call("delete", func(ctx context.Context) error { return a.Client().Delete(ctx, "/n", over) })
		w.AtEnd(func(explore.Tree) error {
			done := !there && version == over
			if !reason.Is(err, framework.ErrOutcomeUnknown) && done != (err == nil) {
				return fmt.Errorf("%s has deleted the node: %v, and was told %w", a.Name(), done, err)
			}
			return nil
		})
	}
	w.Actor("A", func(a *explore.Actor) { deletes(a, 0) })
	w.Actor("O", func(a *explore.Actor) {
		time.Sleep(5 * time.Millisecond)
		if a.Call("write", func(ctx context.Context) error {
			_, err := a.Client().Set(ctx, "/n", []byte("new"), framework.AnyVersion)
			return err
		}) == nil {
			deletes(a, 1)
		}
	})
}
