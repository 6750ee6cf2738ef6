package atomic_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/testing/zktest"
)

// Several clients count in all ways at once, and nothing is lost.
func TestClientsThatContend(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		path := recipetest.Path(t)
		const writers, each = 3, 20
		var all sync.WaitGroup
		clients := 0
		for name := range waysToCount {
			opts := map[string][]atomic.Option{
				"with receipts": {atomic.WithReceipts(path + "-receipts")},
				"promoted":      {atomic.WithPromotion(path+"-lock", 1)},
			}[name]
			c, _ := w.Connect(t)
			clients++
			n := atomic.NewLong(c, path, opts...)
			for range writers {
				all.Go(func() {
					for range each {
						_, err := n.Add(ctx, 1)
						require.NoError(t, err)
					}
				})
			}
		}
		all.Wait()
		c, _ := w.Connect(t)
		now, err := atomic.NewLong(c, path).Load(ctx)
		require.NoError(t, err)
		require.EqualValues(t, clients*writers*each, now)
		w.NoWatches(t)
		w.WaitNodes(t, path+"-lock", 0)
	})
}

// A writer that others are faster than, as often as was said, goes on under the
// lock, and releases it.
func TestPromotion(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		n := atomic.NewLong(c, "/n", atomic.WithPromotion("/lock", 3))
		require.NoError(t, n.Store(ctx, 0))
		interfere := zktest.Call(func(zktest.Request) { _ = w.Fake.Set("/n", []byte{0, 0, 0, 0, 0, 0, 0, 1}) })
		w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Op: zktest.OpSetData, Path: "/n", Times: 2, Do: interfere})
		_, err := n.Add(ctx, 1)
		require.NoError(t, err)
		require.Zero(t, w.Fake.CountRequests(zktest.OpCreate)-1, "two times are not three")
		w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Op: zktest.OpSetData, Path: "/n", Times: 4, Do: interfere})
		now, err := n.Add(ctx, 1)
		require.NoError(t, err)
		require.EqualValues(t, 2, now)
		_, there := w.Fake.Node("/lock")
		require.True(t, there, "it went on under the lock")
		w.NothingLeft(t, "/lock")
	})
}

// An Update goes on under the lock, too: it has it while its function makes the next
// try, and until it returns, however it does.
func TestPromotionOfAnUpdate(t *testing.T) {
	for name, tc := range map[string]struct {
		third func(cancel func(), n *atomic.Long) error // of the function's calls
		ends  func(t *testing.T, update func() error)
	}{
		"applied": {
			func(func(), *atomic.Long) error { return nil },
			func(t *testing.T, update func() error) { require.NoError(t, update()) },
		},
		"refused by the function": {
			func(func(), *atomic.Long) error { return errOdd },
			func(t *testing.T, update func() error) { require.ErrorIs(t, update(), errOdd) },
		},
		"given up": {
			func(cancel func(), _ *atomic.Long) error { cancel(); return nil },
			func(t *testing.T, update func() error) { require.ErrorIs(t, update(), context.Canceled) },
		},
		"panic": {
			func(func(), *atomic.Long) error { panic("ouch") },
			func(t *testing.T, update func() error) {
				require.PanicsWithValue(t, "ouch", func() { _ = update() })
			},
		},
		"beside others of the same object": {
			func(_ func(), n *atomic.Long) error {
				_, err := n.Add(context.Background(), 1)
				return err
			},
			func(t *testing.T, update func() error) { require.NoError(t, update()) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				n := atomic.NewLong(c, "/n", atomic.WithPromotion("/lock", 2))
				require.NoError(t, n.Store(w.Patience(t), 0))
				others := byte(0)
				interfere := zktest.Call(func(zktest.Request) {
					others++
					_ = w.Fake.Set("/n", []byte{0, 0, 0, 0, 0, 0, others, 0})
				})
				w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Op: zktest.OpSetData, Path: "/n", Times: 4, Do: interfere})
				ctx, cancel := context.WithCancel(w.Patience(t))
				defer cancel()
				calls := 0
				tc.ends(t, func() error {
					_, err := n.Update(ctx, func(old int64) (int64, error) {
						calls++
						if calls > 2 {
							settle()
							require.Len(t, w.Fake.Children("/lock"), 1, "call %d", calls)
						}
						if calls == 3 {
							return old + 1, tc.third(cancel, n)
						}
						return old + 1, nil
					})
					return err
				})
				require.Greater(t, calls, 2)
				w.NothingLeft(t, "/lock")
			})
		})
	}
}

var errOdd = errors.New("odd")

// A receipt lives as long as the session.
func TestReceiptsEnd(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, network := w.Connect(t)
		kept := atomic.NewLong(c, "/n", atomic.WithReceipts("/receipts"))
		for range 3 {
			_, err := kept.Add(ctx, 1)
			require.NoError(t, err)
		}
		require.Len(t, w.Fake.Children("/receipts"), 1)

		network.Expire(t)
		settle()
		for range 3 {
			_, err := kept.Add(ctx, 1)
			require.NoError(t, err)
		}
		require.Len(t, w.Fake.Children("/receipts"), 1)
		w.Fake.Delete("/receipts/" + w.Fake.Children("/receipts")[0])
		now, err := kept.Add(ctx, 1)
		require.NoError(t, err, "an operator has deleted the receipt")
		require.EqualValues(t, 7, now)
	})
}

// A Load sees what was complete before it, also on a server that lags behind.
//
// Promise: A value is as new as the call that returns it, even from a server that lags.
func TestLoadOnAServerThatLags(t *testing.T) {
	loadOnServersThatLag(t, func(ens *zktest.Ensemble) []*zktest.Member { return ens.Followers() })
}

func loadOnServersThatLag(t *testing.T, late func(*zktest.Ensemble) []*zktest.Member) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3)
		ctx := recipetest.Within(t, time.Hour)
		var numbers []*atomic.Long
		for _, m := range ens.Members() {
			c, err := framework.New(m.Addr(), framework.WithDialer(m.Dialer()))
			require.NoError(t, err)
			defer c.Close()
			require.NoError(t, c.WaitConnected(ctx))
			numbers = append(numbers, atomic.NewLong(c, "/n"))
		}
		for _, m := range late(ens) {
			m.Lag(time.Second)
		}
		var count int64
		for range 3 {
			for i, n := range numbers {
				now, err := n.Add(ctx, 1)
				require.NoError(t, err)
				count++
				require.Equal(t, count, now)
				seen, err := numbers[(i+1)%3].Load(ctx)
				require.NoError(t, err)
				require.Equal(t, count, seen)
				swapped, err := numbers[(i+2)%3].CompareAndSwap(ctx, count-1, 0)
				require.NoError(t, err)
				require.False(t, swapped)
			}
		}
	})
}
