package atomic_test

import (
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// lose lets somebody else write the number first, before the next writes of a
// client.
func (w *world) lose(c *framework.Client, path string, times int) {
	w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Op: zktest.OpSetData, Path: path, Times: times, Do: zktest.Call(func(zktest.Request) {
		_ = w.Fake.Set(path, []byte{0, 0, 0, 0, 0, 0, 0, 7})
	})})
}

// A write waits for the lock of those who were beaten too often. Loads do not
// wait with it.
func TestLoadDoesNotWaitForThePromotion(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		held, err := locks.NewInterProcessMutex(w.Observer, "/lock").Acquire(ctx)
		require.NoError(t, err)
		n := atomic.NewLong(c, "/n", atomic.WithPromotion("/lock", 1))
		require.NoError(t, n.Store(ctx, 5))
		w.lose(c, "/n", 1)
		var add sync.WaitGroup
		add.Go(func() {
			sum, err := n.Add(ctx, 1)
			require.NoError(t, err)
			require.EqualValues(t, 8, sum)
		})
		w.WaitNodes(t, "/lock", 2)
		now, err := n.Load(recipetest.Within(t, time.Second))
		require.NoError(t, err)
		require.EqualValues(t, 7, now)
		require.NoError(t, held.Release(ctx))
		add.Wait()
	})
}

// A change right after a Load is one request: it knows the node from the Load.
func TestChangeAfterALoadIsOneRequest(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		require.NoError(t, w.Fake.Create("/n", nil))
		n := atomic.NewLong(c, "/n")
		w.Fake.ClearRequests()
		old, err := n.Load(ctx)
		require.NoError(t, err)
		swapped, err := n.CompareAndSwap(ctx, old, 5)
		require.NoError(t, err)
		require.True(t, swapped)
		require.Equal(t, []zktest.Op{zktest.OpSync, zktest.OpGetData, zktest.OpSetData}, w.requests(c.SessionID()))
	})
}

// An Update that somebody else was faster than reads the node once, and without
// a sync: what it reads is a guess again, which the next write checks.
func TestRequestsOfAnUpdateThatMisses(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		n := atomic.NewLong(c, "/n")
		require.NoError(t, n.Store(ctx, 5))
		w.lose(c, "/n", 1)
		w.Fake.ClearRequests()
		now, err := n.Update(ctx, func(old int64) (int64, error) { return old + 1, nil })
		require.NoError(t, err)
		require.EqualValues(t, 8, now)
		require.Equal(t, []zktest.Op{zktest.OpSetData, zktest.OpGetData, zktest.OpSetData}, w.requests(c.SessionID()))
	})
}

// The error of data that is no value names the call and the path, of a Value as
// of a number.
func TestErrorsOfDataNameTheCall(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		require.NoError(t, w.Fake.Create("/v", []byte("{")))
		v, n := atomic.NewValue(c, "/v", codec.JSON[config]()), atomic.NewLong(c, "/v")
		for want, call := range map[string]func() error{
			"load": func() error { _, err := v.Load(ctx); return err },
			"update": func() error {
				_, err := v.Update(ctx, func(old config) (config, error) { return old, nil })
				return err
			},
			"add": func() error { _, err := n.Add(ctx, 1); return err },
			"update ": func() error {
				_, err := n.Update(ctx, func(old int64) (int64, error) { return old, nil })
				return err
			},
		} {
			err := call()
			var failed *framework.OpError
			require.ErrorAs(t, err, &failed, want)
			require.Equal(t, strings.TrimSpace(want), failed.Op)
			require.Equal(t, "/v", failed.Path)
			var data *codec.DecodeError
			require.ErrorAs(t, err, &data)
		}
		odd := errors.New("odd")
		require.NoError(t, w.Fake.Set("/v", []byte("{}")))
		_, err := v.Update(ctx, func(config) (config, error) { return config{}, odd })
		require.Equal(t, odd, err, "the user's own error is returned as it is")
	})
}

// A receipt or a lock that is refused is the error of the writer. Loads, and
// swaps that fail, have nothing to do with it.
func TestRefusedReceiptOrLockIsTheErrorOfTheWriter(t *testing.T) {
	for name, opt := range map[string]atomic.Option{
		"receipt": atomic.WithReceipts("/refused"), "lock": atomic.WithPromotion("/refused", 1),
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx := w.Patience(t)
				c, _ := w.Connect(t)
				require.NoError(t, atomic.NewLong(c, "/n").Store(ctx, 5))
				n := atomic.NewLong(c, "/n", opt)
				w.lose(c, "/n", -1)
				w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Path: "/n", Session: c.SessionID(), Do: zktest.DelayRequest(time.Second)})
				w.Fake.Inject(zktest.Rule{Path: "/refused/*", Times: -1, Do: zktest.Fail(zktest.ErrNoAuth)})
				var all sync.WaitGroup
				var add, load, swap error
				swapped := true
				all.Go(func() { _, add = n.Add(ctx, 1) })
				all.Go(func() { _, load = n.Load(ctx) })
				all.Go(func() { swapped, swap = n.CompareAndSwap(ctx, 99, 100) })
				all.Wait()
				require.ErrorIs(t, add, zk.ErrNoAuth)
				require.NotErrorIs(t, add, framework.ErrOutcomeUnknown)
				require.NoError(t, load)
				require.NoError(t, swap)
				require.False(t, swapped)
			})
		})
	}
}

// The client is closed while a write is under way. The outcome is unknown, and
// the log says so.
func TestLogOfAWriteAtClose(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var log recipetest.Log
		c, _ := w.Connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		n := atomic.NewLong(c, "/n")
		require.NoError(t, n.Store(w.Patience(t), 5))
		sent := w.Fake.Inject(zktest.Rule{Op: zktest.OpSetData, Do: zktest.BlackholeReply()})
		errs := make(chan error, 1)
		go func() {
			_, err := n.Add(w.Patience(t), 1)
			errs <- err
		}()
		time.Sleep(10 * time.Millisecond)
		require.Equal(t, 1, sent.Hits())
		require.NoError(t, c.Close())
		err := <-errs
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		require.ErrorIs(t, err, framework.ErrClosed)
		settle() // the log has a goroutine of its own, and Close did not wait for this line
		require.Equal(t, 1, strings.Count(log.String(), "outcome of a write is unknown"))
	})
}
