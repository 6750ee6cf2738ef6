package atomic_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	syncatomic "sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/histories"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/testing/zktest"
)

var atomicSeeds = recipetest.SeedFlags("atomic", 200)

// Twenty writers of four clients change a Long, a Value and two sequences,
// while random faults happen to them and to the servers. A third of the seeds have
// an ensemble, and half of these a member that lags. Clients have receipts or none.
// The history of each object must be one that a single writer could have made,
// with what is unknown left open. When the faults have stopped, everything works
// again.
//
// Promise: No change is lost or doubled, and every change takes effect between its call and its return.
func TestHistoriesUnderRandomFaults(t *testing.T) {
	atomicSeeds.Each(t, func(t *testing.T, seed uint64) {
		r := &trial{T: t, seed: seed}
		defer func() { recipetest.LogEvents(t, r.servers) }()
		synctest.Test(t, func(t *testing.T) { r.run(t) })
		r.check()
	})
}

const (
	trialClients = 4
	trialWriters = 5 // of each client
	trialSession = 20 * time.Second
)

// trial is one run of the simulation.
type trial struct {
	*testing.T
	seed    uint64
	servers any // of zktest
	answers syncatomic.Int64

	long, value, next, dense histories.History
}

func (r *trial) run(t *testing.T) {
	chaos := zktest.WithChaos(r.plan())
	var stop func()
	var connect string
	var dial framework.DialFunc
	var opts []framework.Option
	if r.seed%3 != 0 {
		srv := zktest.Start(t, chaos)
		connect, dial, stop, r.servers = srv.Addr(), srv.Dialer(), srv.StopFaults, srv
	} else {
		ens := zktest.StartEnsemble(t, 3, chaos)
		connect, dial, stop, r.servers = ens.ConnectString(), ens.Dialer(), ens.Members()[0].StopFaults, ens
		if r.lags() {
			ens.Members()[0].Lag(2 * time.Second)
		}
	}
	opts = append(opts, framework.WithDialer(dial), framework.WithSessionTimeout(trialSession))
	var all sync.WaitGroup
	defer all.Wait()
	for i := range trialClients {
		c, err := framework.New(connect, opts...)
		require.NoError(t, err)
		all.Go(func() {
			defer c.Close()
			r.live(c, i)
		})
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(2 * time.Minute)
	stop()
}

// lags reports whether a member lags. It must not lead: the newest that a client reads
// there is not the newest that there is. So there are no elections in such a trial.
func (r *trial) lags() bool { return r.seed%6 == 0 }

func (r *trial) plan() zktest.ChaosPlan {
	const long = 2 * trialSession
	elections := []zktest.Disruption{{Kind: "stop", For: long}, {Kind: "pause", For: long}}
	if r.lags() {
		elections = nil
	}
	return zktest.ChaosPlan{
		Seed: r.seed,
		Faults: []zktest.Rule{
			{Chance: 0.01, Do: zktest.DropRequest()},
			{Chance: 0.02, Do: zktest.DropReply()},
			{Chance: 0.004, Do: zktest.Blackhole()},
			{Chance: 0.004, Do: zktest.BlackholeReply()},
			{Chance: 0.02, Do: zktest.DelayReply(3 * time.Second)},
			{Chance: 0.02, Do: zktest.DelayRequest(3 * time.Second)},
			{Chance: 0.01, Do: zktest.Fail(zkinside.ErrSystem)},
		},
		Every: 15 * time.Second,
		Disruptions: append([]zktest.Disruption{
			{Kind: "cut"}, {Kind: "cut"}, {Kind: "replace"}, {Kind: "expire"},
			{Kind: "reap"}, {Kind: "blackhole", For: long}, {Kind: "refuse", For: long},
			{Kind: "pause_session", For: long}, {Kind: "pause_session", For: trialSession / 2},
		}, elections...),
	}
}

// live is the life of one client.
func (r *trial) live(c *framework.Client, i int) {
	opts := [][]atomic.Option{nil, {atomic.WithReceipts("/receipts")}}[i%2]
	long := atomic.NewLong(c, "/counters/long", opts...)
	value := atomic.NewValue(c, "/counters/value", codec.JSON[int64](), opts...)
	next, dense := atomic.NewSequence(c, "/counters/next"), atomic.NewSequence(c, "/counters/dense")
	var all sync.WaitGroup
	for j := range trialWriters {
		w := &writer{trial: r, id: i*trialWriters + j, rng: rand.New(rand.NewPCG(r.seed, uint64(100*i+j)))}
		all.Go(func() {
			for range 4 {
				_ = w.change(&r.long, long, func(ctx context.Context, delta int64) (int64, error) { return long.Add(ctx, delta) })
				_ = w.change(&r.value, value, func(ctx context.Context, delta int64) (int64, error) {
					return value.Update(ctx, func(old int64) (int64, error) { return old + delta, nil })
				})
				w.count(&r.next, next.Next)
				w.count(&r.dense, func(ctx context.Context) (int64, error) {
					n, err := dense.NextDense(ctx)
					return int64(n), err
				})
			}
			time.Sleep(4 * time.Minute) // the faults have stopped, and what was late has arrived
			w.calm = true
			for _, err := range []error{w.load(&r.long, long), w.load(&r.value, value)} {
				if err != nil {
					r.Errorf("writer %d, without faults: %v", w.id, err)
				}
			}
		})
	}
	all.Wait()
}

// writer is one caller of a client.
type writer struct {
	*trial
	id   int
	rng  *rand.Rand
	calm bool
}

// patience returns the context of a call, after a pause.
func (w *writer) patience() (context.Context, context.CancelFunc) {
	if w.calm {
		return context.WithTimeout(context.Background(), time.Minute)
	}
	time.Sleep(time.Duration(w.rng.IntN(6_000)) * time.Millisecond)
	most := 10 * time.Second
	if w.rng.IntN(3) == 0 {
		most = 3 * time.Minute
	}
	return context.WithTimeout(context.Background(), time.Duration(w.rng.Int64N(int64(most))))
}

type number interface {
	Load(context.Context) (int64, error)
	Store(context.Context, int64) error
	CompareAndSwap(ctx context.Context, old, now int64) (bool, error)
	Update(context.Context, func(int64) (int64, error)) (int64, error)
}

// change makes one change of an object.
func (w *writer) change(h *histories.History, n number, add func(ctx context.Context, delta int64) (int64, error)) error {
	ctx, cancel := w.patience()
	defer cancel()
	switch w.rng.IntN(10) {
	case 0:
		return w.load(h, n)
	case 1:
		value := w.rng.Int64N(5)
		return w.do(h, histories.Set[int64]{Value: value}, func() (any, error) { return nil, n.Store(ctx, value) })
	case 2, 3:
		swap := histories.Swap[int64]{Old: w.rng.Int64N(10), New: w.rng.Int64N(10)}
		return w.do(h, swap, func() (any, error) {
			swapped, err := n.CompareAndSwap(ctx, swap.Old, swap.New)
			return histories.Done(swapped), err
		})
	case 4, 5:
		return w.do(h, tripled, func() (any, error) {
			return n.Update(ctx, func(old int64) (int64, error) { return tripled.Of(old), nil })
		})
	default:
		return w.do(h, histories.Add(1), func() (any, error) { return add(ctx, 1) })
	}
}

// tripled is an update whose order matters.
var tripled = histories.Update[int64]{What: "triple", Of: func(n int64) int64 { return (3*n + 1) % 1000 }}

func (w *writer) load(h *histories.History, n number) error {
	ctx, cancel := w.patience()
	defer cancel()
	return w.do(h, histories.Read{}, func() (any, error) { return n.Load(ctx) })
}

func (w *writer) count(h *histories.History, next func(context.Context) (int64, error)) {
	ctx, cancel := w.patience()
	defer cancel()
	_ = w.do(h, drawn{}, func() (any, error) { return next(ctx) })
}

// do takes an operation down. Its errors must come from the end of its context.
func (w *writer) do(h *histories.History, asked any, do func() (any, error)) error {
	call := h.Begin(w.id)
	told, err := do()
	var server *framework.ServerError
	_, draws := asked.(drawn)
	switch {
	case err == nil:
		call.End(asked, told)
		w.answers.Add(1)
	case errors.Is(err, framework.ErrOutcomeUnknown) && !draws: // a number that was not given may be in no order
		call.Open(asked)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, framework.ErrOutcomeUnknown):
	case draws && (framework.IsConnectionError(err) || errors.As(err, &server)): // as of any request
	default:
		w.Errorf("writer %d: %v", w.id, err)
	}
	return err
}

// drawn is asked for by a client that takes a number of a sequence.
type drawn struct{}

// rising is a sequence: each number that it gives is larger than those before.
var rising = porcupine.Model{
	Init:              func() any { return int64(0) },
	Step:              func(last, _, told any) (bool, any) { return told.(int64) > last.(int64), told },
	DescribeOperation: func(asked, told any) string { return fmt.Sprintf("%T: %v", asked, told) },
}

func (r *trial) check() {
	require.Greater(r, int(r.answers.Load()), 80, "too little was told to show anything")
	for name, c := range map[string]struct {
		of    *histories.History
		model porcupine.Model
	}{
		"the Long":  {&r.long, histories.Value[int64](0)},
		"the Value": {&r.value, histories.Value[int64](0)},
		"Next":      {&r.next, rising},
		"NextDense": {&r.dense, rising},
	} {
		require.NoError(r, c.of.Check(c.model), name)
	}
}
