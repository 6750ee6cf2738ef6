package recipes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/zktest"
)

// cost is an operation, and the requests that it sends if nothing disturbs it.
type cost struct {
	what string
	do   func(ctx context.Context) error
	ops  []zktest.Op
}

// costs has the operations of a recipe, one after the other.
var costs = map[string]func(s *scene) []cost{
	"mutex": func(s *scene) []cost {
		var lease *locks.Lease
		acquire := func(ctx context.Context) (err error) { lease, err = mutex(s.client).Acquire(ctx); return err }
		release := func(ctx context.Context) error { return lease.Release(ctx) }
		return []cost{
			{"acquire", acquire, []zktest.Op{zktest.OpCreate, zkinside.OpGetChildren2}},
			{"release", release, []zktest.Op{zktest.OpDelete}},
		}
	},
	"latch": func(s *scene) []cost {
		var l *leader.Latch
		lead := func(ctx context.Context) (err error) {
			if l, err = leader.NewLatch(s.client, "/lock"); err == nil {
				_, err = l.WaitLeadership(ctx)
			}
			return err
		}
		shutdown := func(ctx context.Context) error { return l.Shutdown(ctx) }
		return []cost{
			{"lead", lead, []zktest.Op{zktest.OpCreate, zkinside.OpGetChildren2, zktest.OpGetData}},
			{"shutdown", shutdown, []zktest.Op{zktest.OpDelete}},
		}
	},
	"persistent node": func(s *scene) []cost {
		var n *nodes.PersistentNode
		start := func(ctx context.Context) (err error) {
			if n, err = nodes.NewPersistentNode(s.client, "/lock/n", nil); err == nil {
				_, err = n.WaitRegistered(ctx)
			}
			return err
		}
		set := func(ctx context.Context) error { return n.Set(ctx, []byte("new")) }
		shutdown := func(ctx context.Context) error { return n.Shutdown(ctx) }
		return []cost{
			{"start", start, []zktest.Op{zktest.OpCreate, zktest.OpExists}},
			{"set", set, []zktest.Op{zktest.OpSetData, zktest.OpExists}},
			{"shutdown", shutdown, []zktest.Op{zktest.OpExists, zktest.OpDelete}},
		}
	},
	"shared count": func(s *scene) []cost {
		var n *shared.Count
		var old shared.Versioned[int32]
		start := func(ctx context.Context) (err error) {
			if n, err = shared.NewCount(s.client, "/n", 7); err == nil {
				err = n.WaitSynced(ctx)
			}
			return err
		}
		shut := func(context.Context) error { return n.Close() }
		told := func(context.Context) error { return s.srv.Set("/n", []byte{0, 0, 0, 1}) }
		get := func(context.Context) (err error) { old, err = n.Get(); return err }
		set := func(ctx context.Context) error { return n.Set(ctx, 2) }
		try := func(ctx context.Context) error {
			now, err := n.Get()
			if err == nil {
				_, _, err = n.TrySet(ctx, now, 3)
			}
			return err
		}
		refused := func(ctx context.Context) error { _, ok, err := n.TrySet(ctx, old, 4); return errIf(err, ok) }
		refresh := func(ctx context.Context) error { _, err := n.Refresh(ctx); return err }
		return []cost{
			{"start without a node", start, []zktest.Op{zktest.OpGetData, zktest.OpCreate, zktest.OpGetData}},
			{"close", shut, []zktest.Op{zkinside.OpRemoveWatches}},
			{"start", start, []zktest.Op{zktest.OpGetData}},
			{"change", told, []zktest.Op{zktest.OpGetData}},
			{"get", get, nil},
			{"set", set, []zktest.Op{zktest.OpMulti, zktest.OpGetData}},
			{"try", try, []zktest.Op{zktest.OpMulti, zktest.OpGetData}},
			{"try that is refused", refused, nil},
			{"refresh", refresh, []zktest.Op{zktest.OpSync, zktest.OpGetData}},
		}
	},
	"long": func(s *scene) []cost {
		n := atomic.NewLong(s.client, "/n")
		sure := atomic.NewLong(s.client, "/n", atomic.WithReceipts("/lock"))
		add := func(ctx context.Context) error { _, err := n.Add(ctx, 1); return err }
		update := func(ctx context.Context) error {
			_, err := n.Update(ctx, func(old int64) (int64, error) { return old + 1, nil })
			return err
		}
		twice := func(ctx context.Context) error { return errIf(update(ctx), add(ctx) != nil) }
		swap := func(ctx context.Context) error {
			old, err := n.Load(ctx)
			if err == nil {
				_, err = n.CompareAndSwap(ctx, old, 5)
			}
			return err
		}
		receipt := func(ctx context.Context) error { _, err := sure.Add(ctx, 1); return err }
		later := func(context.Context) error { time.Sleep(time.Second); return nil }
		return []cost{
			{"add without a node", add, []zktest.Op{zktest.OpGetData, zktest.OpCreate, zktest.OpSetData}},
			{"add that knows the node", add, []zktest.Op{zktest.OpSetData}},
			{"for a second", later, nil},
			{"update, and add", twice, []zktest.Op{zktest.OpGetData, zktest.OpSetData, zktest.OpSetData}},
			{"load, and swap", swap, []zktest.Op{zktest.OpSync, zktest.OpGetData, zktest.OpSetData}},
			{"first add with a receipt", receipt, []zktest.Op{zktest.OpGetData, zktest.OpCreate, zktest.OpMulti}},
			{"add with a receipt", receipt, []zktest.Op{zktest.OpMulti}},
		}
	},
	"sequence": func(s *scene) []cost {
		n := atomic.NewSequence(s.client, "/n")
		next := func(ctx context.Context) error { _, err := n.Next(ctx); return err }
		return []cost{
			{"next without a node", next, []zktest.Op{zktest.OpSetData, zktest.OpCreate, zktest.OpSetData}},
			{"next", next, []zktest.Op{zktest.OpSetData}},
		}
	},
}

// This is the one place that counts the requests of what nothing disturbs. A change
// that needs another one changes a row.
func TestCosts(t *testing.T) {
	for name, of := range costs {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				require.NoError(t, s.client.WaitConnected(t.Context()))
				require.NoError(t, s.srv.Create("/lock", nil))
				for _, c := range of(s) {
					s.srv.ClearRequests()
					require.NoError(t, c.do(t.Context()), c.what)
					time.Sleep(500 * time.Millisecond) // a lock does not watch its own node yet
					synctest.Wait()
					var ops []zktest.Op
					for _, r := range s.srv.Requests() {
						if r.Op != zkinside.OpPing {
							ops = append(ops, r.Op)
						}
					}
					require.Equal(t, c.ops, ops, c.what)
				}
			})
		})
	}
}
