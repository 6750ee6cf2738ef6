package atomic_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/testing/zktest"
)

func TestNumbersOnCuratorsBytes(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		path := recipetest.Path(t) + "/counters/"
		long, small := atomic.NewLong(c, path+"long"), atomic.NewInt(c, path+"int")

		v, err := long.Load(ctx)
		require.NoError(t, err)
		require.Zero(t, v, "a node that does not exist is zero")
		exists, _, err := w.Observer.Exists(ctx, path+"long")
		require.NoError(t, err)
		require.False(t, exists, "a Load creates nothing")

		v, err = long.Add(ctx, -2)
		require.NoError(t, err)
		require.EqualValues(t, -2, v)
		require.Equal(t, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe}, w.dataOf(t, path+"long"))
		require.NoError(t, long.Store(ctx, 1<<40))
		require.Equal(t, []byte{0, 0, 1, 0, 0, 0, 0, 0}, w.dataOf(t, path+"long"))

		swapped, err := small.CompareAndSwap(ctx, 0, 7)
		require.NoError(t, err)
		require.True(t, swapped, "a node that does not exist is zero")
		require.Equal(t, []byte{0, 0, 0, 7}, w.dataOf(t, path+"int"))
		swapped, err = small.CompareAndSwap(ctx, 8, 9)
		require.NoError(t, err)
		require.False(t, swapped)
		now, err := small.Update(ctx, func(old int32) (int32, error) { return old * 3, nil })
		require.NoError(t, err)
		require.EqualValues(t, 21, now)
		require.NoError(t, small.Store(ctx, math.MaxInt32))
		now, err = small.Add(ctx, 1)
		require.NoError(t, err)
		require.EqualValues(t, math.MinInt32, now)

		_, stat, err := w.Observer.Get(ctx, path+"int")
		require.NoError(t, err)
		require.Zero(t, stat.EphemeralOwner, "the node is persistent")
	})
}

func TestChangesOfOthersAreSeen(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		one, _ := w.Connect(t)
		two, _ := w.Connect(t)
		path := recipetest.Path(t)
		a, b := atomic.NewLong(one, path), atomic.NewLong(two, path)
		for i := range int64(20) {
			n, err := a.Add(ctx, 1)
			require.NoError(t, err)
			require.Equal(t, 3*i+1, n)
			n, err = b.Update(ctx, func(old int64) (int64, error) { return old + 2, nil })
			require.NoError(t, err)
			require.Equal(t, 3*i+3, n)
			n, err = a.Load(ctx)
			require.NoError(t, err)
			require.Equal(t, 3*i+3, n)
			swapped, err := a.CompareAndSwap(ctx, 3*i+1, 0)
			require.NoError(t, err)
			require.False(t, swapped, "that was the number when a changed it")
		}
	})
}

// Goroutines that add at the same time share one write, and each gets a different sum.
func TestAddsOfOneProcessAreCombined(t *testing.T) {
	for name, opts := range waysToCount {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx := w.Patience(t)
				c, _ := w.Connect(t)
				n := atomic.NewLong(c, "/n", opts...)
				_, err := n.Add(ctx, 1)
				require.NoError(t, err)
				w.Fake.ClearRequests()
				const writers = 64
				slow := w.Fake.Inject(zktest.Rule{Do: zktest.DelayRequest(1e9)})
				var all sync.WaitGroup
				sums := make([]int64, writers)
				for i := range writers {
					all.Go(func() {
						sum, err := n.Add(ctx, 1)
						assert.NoError(t, err)
						sums[i] = sum
					})
				}
				all.Wait()
				require.Equal(t, 1, slow.Hits())
				require.LessOrEqual(t, len(w.requests(c.SessionID())), 2, "one write for the first, one for the rest")
				seen := map[int64]bool{}
				for _, sum := range sums {
					seen[sum] = true
				}
				require.Len(t, seen, writers)
				require.True(t, seen[writers+1])
			})
		})
	}
}

// Goroutines that make other changes at the same time take turns at the server, and
// know the node from each other.
func TestChangesOfOneProcessTakeTurns(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		n := atomic.NewLong(c, "/n")
		require.NoError(t, n.Store(ctx, 5))
		w.Fake.ClearRequests()
		const writers = 15 // the run of writes without a read has 16
		var all sync.WaitGroup
		for range writers {
			all.Go(func() {
				_, err := n.Update(ctx, func(old int64) (int64, error) { return old + 1, nil })
				assert.NoError(t, err)
			})
		}
		all.Wait()
		require.Len(t, w.requests(c.SessionID()), writers)
		require.EqualValues(t, 5+writers, w.dataOf(t, "/n")[7])
	})
}

// The function of an Update may change the same number. It is called again then.
func TestChangeWithinAnUpdate(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		n := atomic.NewLong(c, "/n")
		calls := 0
		now, err := n.Update(ctx, func(old int64) (int64, error) {
			if calls++; calls == 1 {
				return old + 100, n.Store(ctx, 5)
			}
			return old + 1, nil
		})
		require.NoError(t, err)
		require.EqualValues(t, 6, now)
		require.Equal(t, 2, calls)
	})
}

var waysToCount = map[string][]atomic.Option{
	"plain":         nil,
	"with receipts": {atomic.WithReceipts("/receipts")},
}

func TestDataThatIsNoNumber(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		path := recipetest.Path(t)
		_, err := c.Create(ctx, path, []byte("abc"))
		require.NoError(t, err)
		n := atomic.NewLong(c, path)
		noNumber := func(err error) {
			t.Helper()
			var bad *codec.DecodeError
			require.ErrorAs(t, err, &bad)
			require.Equal(t, path, bad.Path)
			require.ErrorContains(t, err, "3 bytes, want 8")
		}
		_, err = n.Load(ctx)
		noNumber(err)
		_, err = n.Add(ctx, 1)
		noNumber(err)
		_, err = n.CompareAndSwap(ctx, 0, 1)
		noNumber(err)
		_, err = n.Update(ctx, func(old int64) (int64, error) { return old, nil })
		noNumber(err)
		require.Equal(t, "abc", string(w.dataOf(t, path)))
		require.NoError(t, n.Store(ctx, 5))
		v, err := n.Load(ctx)
		require.NoError(t, err)
		require.EqualValues(t, 5, v)
	})
}

// An error of the function changes nothing. It is not returned for a number
// that is out of date.
func TestUpdateThatRefuses(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		other, _ := w.Connect(t)
		mine, theirs := atomic.NewLong(c, "/stock"), atomic.NewLong(other, "/stock")
		soldOut := errors.New("sold out")
		sell := func(old int64) (int64, error) {
			if old == 0 {
				return 0, soldOut
			}
			return old - 1, nil
		}
		require.NoError(t, mine.Store(ctx, 1))
		left, err := mine.Update(ctx, sell)
		require.NoError(t, err)
		require.Zero(t, left)
		require.NoError(t, theirs.Store(ctx, 2))
		left, err = mine.Update(ctx, sell)
		require.NoError(t, err, "it is not the old number that decides")
		require.EqualValues(t, 1, left)
		require.NoError(t, theirs.Store(ctx, 0))
		_, err = mine.Update(ctx, sell)
		require.ErrorIs(t, err, soldOut)
	})
}

// A refused write is the error of its caller alone.
func TestRefusalIsTheErrorOfOneCaller(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		v := atomic.NewValue(c, "/v", codec.Bytes())
		require.NoError(t, v.Store(ctx, []byte("a")))
		w.Fake.Inject(zktest.Rule{Do: zktest.DelayRequest(1e9)})
		var all sync.WaitGroup
		errs := make([]error, 5)
		for i := range errs {
			data := []byte{byte(i)}
			if i == 4 {
				data = make([]byte, 1<<21)
			}
			all.Go(func() { errs[i] = v.Store(ctx, data) })
			time.Sleep(time.Millisecond) // all but the first in one write
		}
		all.Wait()
		for _, err := range errs[:4] {
			require.NoError(t, err)
		}
		require.ErrorIs(t, errs[4], framework.ErrRequestTooLarge)
		require.NotErrorIs(t, errs[4], framework.ErrOutcomeUnknown)
		now, err := v.Load(ctx)
		require.NoError(t, err)
		require.Len(t, now, 1) // the last of concurrent writes
	})
}

func TestNumbersThatCannotBe(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		cannot := func(kind error, n *atomic.Long) {
			t.Helper()
			_, err := n.Load(ctx)
			require.ErrorIs(t, err, kind)
			_, err = n.Add(ctx, 1)
			require.ErrorIs(t, err, kind)
			require.ErrorIs(t, n.Store(ctx, 1), kind)
			_, err = n.CompareAndSwap(ctx, 1, 2)
			require.ErrorIs(t, err, kind)
			_, err = n.Update(ctx, func(old int64) (int64, error) { return old, nil })
			require.ErrorIs(t, err, kind)
		}
		cannot(zk.ErrBadArguments, atomic.NewLong(nil, "/n"))
		cannot(zk.ErrBadArguments, &atomic.Long{})
		cannot(zk.ErrInvalidPath, atomic.NewLong(c, "n"))
		cannot(zk.ErrBadArguments, atomic.NewLong(c, "/n", nil))
		cannot(zk.ErrInvalidPath, atomic.NewLong(c, "/n", atomic.WithReceipts("")))
		_, err := atomic.NewLong(c, "/n").Update(ctx, nil)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		_, err = atomic.NewValue(c, "/n", codec.Codec[int]{}).Load(ctx)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		require.ErrorIs(t, atomic.NewValue(c, "/n", codec.Codec[int]{}).Store(ctx, 1), zk.ErrBadArguments)
		_, err = atomic.NewValue(c, "/n", codec.JSON[int]()).Update(ctx, nil)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		_, err = atomic.NewSequence(nil, "/n").Next(ctx)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		_, err = new(atomic.Sequence).Next(ctx)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		_, err = new(atomic.Value[int]).Load(ctx)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		_, err = new(atomic.Value[int]).Update(ctx, nil)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		_, err = atomic.NewSequence(c, "").NextDense(ctx)
		require.ErrorIs(t, err, zk.ErrInvalidPath)
		require.Equal(t, []string{"zookeeper"}, w.Fake.Children("/"), "nothing was created")
	})
}

func TestClosedClient(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n := atomic.NewLong(c, "/n")
		w.Fake.Inject(zktest.Rule{Do: zktest.Blackhole()})
		errs := make(chan error, 1)
		go func() {
			_, err := n.Add(context.Background(), 1)
			errs <- err
		}()
		settle()
		c.Close()
		err := <-errs
		require.ErrorIs(t, err, framework.ErrClosed)
		_, err = n.Add(context.Background(), 1)
		require.ErrorIs(t, err, framework.ErrClosed)
		require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
	})
}
