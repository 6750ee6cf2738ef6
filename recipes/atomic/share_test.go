package atomic_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/testing/zktest"
)

// Clients that add without a pause share the number: compared with loops of Get and
// Set on the same server, they add faster, with fewer requests, and no client waits
// much longer for an Add. The bounds leave room: eight clients have 1.2 times the rate of
// the loops, once their p99 and 1.5 requests an Add.
func TestClientsShareANumber(t *testing.T) {
	for _, s := range []struct {
		clients           int
		way               time.Duration
		rate, p99, asking float64 // bounds; the first two are ratios
	}{
		{1, 200 * time.Microsecond, 1.5, 1.2, 1.2},
		{2, 200 * time.Microsecond, 1.3, 1.2, 1.6},
		{8, 200 * time.Microsecond, 1, 1.8, 2},
		{1, time.Millisecond, 1.5, 1.2, 1.2},
		{2, time.Millisecond, 1.3, 1.2, 1.6},
		{8, time.Millisecond, 1, 1.8, 2},
	} {
		t.Run(fmt.Sprintf("%d clients, %v each way", s.clients, s.way), func(t *testing.T) {
			t.Parallel()
			inVirtualTime(t, func(t *testing.T, w *world) {
				loop, our := measure(t, w, s.clients, s.way, casLoop), measure(t, w, s.clients, s.way, adder)
				t.Logf("Add:  %v", our)
				t.Logf("loop: %v", loop)
				rate, p99 := our.rate/loop.rate, our.quantile(0.99)/loop.quantile(0.99)
				t.Logf("rate %.2f x, p99 %.2f x", rate, p99)
				require.Greater(t, rate, s.rate)
				require.Less(t, p99, s.p99)
				require.Less(t, our.asking, s.asking)
			})
		})
	}
}

// newAdder returns a function that adds one to a number.
type newAdder func(*framework.Client) func(context.Context) error

func adder(c *framework.Client) func(context.Context) error {
	n := atomic.NewLong(c, "/added")
	return func(ctx context.Context) error {
		_, err := n.Add(ctx, 1)
		return err
	}
}

func casLoop(c *framework.Client) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			data, stat, err := c.Get(ctx, "/looped")
			if err != nil {
				return err
			}
			next := binary.BigEndian.AppendUint64(nil, binary.BigEndian.Uint64(data)+1)
			if _, err = c.Set(ctx, "/looped", next, stat.Version); !reason.Is(err, zk.ErrBadVersion) {
				return err
			}
		}
	}
}

// figures are what some clients have taken to add.
type figures struct {
	rate   float64 // in a second
	asking float64 // requests of an addition
	took   []time.Duration
}

func (f figures) quantile(q float64) float64 { return float64(f.took[int(q*float64(len(f.took)))]) }

func (f figures) String() string {
	ms := func(q float64) float64 { return f.quantile(q) / 1e6 }
	return fmt.Sprintf("%5.0f a second, %5.2f requests, p50 %5.2f ms, p99 %6.1f, p99.9 %6.1f",
		f.rate, f.asking, ms(0.5), ms(0.99), ms(0.999))
}

// measure has clients add for the time of 2,500 round trips. Each way takes a little
// longer at random.
func measure(t *testing.T, w *world, clients int, way time.Duration, of newAdder) figures {
	t.Helper()
	var adds []func(context.Context) error
	for range clients {
		c, _ := w.Connect(t)
		adds = append(adds, of(c))
	}
	if exists, _, err := w.Observer.Exists(t.Context(), "/looped"); err == nil && !exists {
		_, err = w.Observer.Create(t.Context(), "/looped", make([]byte, 8))
		require.NoError(t, err)
	}
	require.NoError(t, adds[0](t.Context()))
	travel := func(zktest.Request) { time.Sleep(way + time.Duration(rand.ExpFloat64()*float64(way)/20)) }
	distance := w.Fake.Inject(zktest.Rule{Times: -1, Do: zktest.All(zktest.Call(travel), zktest.CallAfter(travel))})
	defer distance.Remove()
	w.Fake.ClearRequests()
	const roundTrips = 2500
	end := roundTrips * 2 * way
	ctx := recipetest.Within(t, end)
	var mu sync.Mutex
	var f figures
	var all sync.WaitGroup
	for _, add := range adds {
		all.Go(func() {
			for {
				began := time.Now()
				if add(ctx) != nil {
					return
				}
				mu.Lock()
				f.took = append(f.took, time.Since(began))
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.Sort(f.took)
	f.rate = float64(len(f.took)) / end.Seconds()
	f.asking = float64(len(w.Requests())) / float64(len(f.took))
	return f
}
