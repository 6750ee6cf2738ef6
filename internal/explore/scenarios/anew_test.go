package scenarios

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/testing/zktest"
)

// Somebody deletes the node of a number, and makes it anew with the same version,
// while the outcome of an addition is open. The addition is carried out no more
// than once, and once if its caller was told so.
func TestLongWhoseNodeIsMadeAnew(t *testing.T) {
	for name, opts := range map[string][]atomic.Option{"plain": nil, "receipts": {atomic.WithReceipts("/receipts")}} {
		op := zktest.OpSetData
		if opts != nil {
			op = zktest.OpMulti
		}
		for _, c := range writeTroubles[1:4] { // those in which none of its requests is late
			t.Run(name+", "+c.name, func(t *testing.T) {
				explore.Search(t, startsWith(c.with(op), longAnew(opts)), brief())
			})
		}
	}
}

func longAnew(opts []atomic.Option) explore.Scenario {
	return func(w *explore.World) {
		w.Node("/count", "")
		w.Node("/receipts", "")
		w.Stays("/receipts")
		additions := map[int64]bool{} // the transactions of those that were carried out
		see := func(tree explore.Tree) error {
			if n := tree["/count"]; len(n.Data) > 0 {
				additions[n.Stat.Mzxid] = true
			}
			if len(additions) > 1 {
				return errors.New("the addition was carried out twice")
			}
			return nil
		}
		w.Always(see)
		w.AtEnd(see)
		w.Actor("A", func(a *explore.Actor) {
			count := atomic.NewLong(a.Client(), "/count", opts...)
			err := a.Call("add", func(ctx context.Context) error {
				_, err := count.Add(ctx, 1)
				return err
			})
			w.AtEnd(func(explore.Tree) error {
				if done := len(additions) == 1; !reason.Is(err, framework.ErrOutcomeUnknown) && done != (err == nil) {
					return fmt.Errorf("the addition was carried out: %v, and its caller was told %w", done, err)
				}
				return nil
			})
		})
		w.Actor("B", func(a *explore.Actor) {
			time.Sleep(time.Millisecond)
			exchange("/count", "")(a)
		})
	}
}
