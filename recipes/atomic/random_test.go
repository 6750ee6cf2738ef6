package atomic_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/testing/zktest"
)

var atomicSeeds = recipetest.SeedFlags("atomic", 200)

// Twenty writers of four clients change a Long, a Value and two sequences,
// while random faults happen to them and to the servers. A third of the seeds
// have an ensemble with a member that lags. Each client counts in another way.
// The history of each object must be one that a single writer could have made,
// with what is unknown left open. When the faults have stopped, everything works
// again.
//
// Promise: No change is lost or doubled, and every change takes effect between its call and its return.
func TestHistoriesUnderRandomFaults(t *testing.T) {
	atomicSeeds.Each(t, func(t *testing.T, seed uint64) {
		r := &trial{T: t, seed: seed}
		defer func() { recipetest.LogEvents(t, r.events) }()
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
	seed   uint64
	events []zktest.Event

	long, value, next, dense history
}

func (r *trial) run(t *testing.T) {
	chaos := zktest.WithChaos(r.plan())
	var stop func()
	var events func() []zktest.Event
	var connect string
	var dial framework.DialFunc
	var opts []framework.Option
	if r.seed%3 != 0 {
		srv := zktest.Start(t, chaos)
		connect, dial, stop, events = srv.Addr(), srv.Dialer(), srv.StopFaults, srv.Events
	} else {
		ens := zktest.StartEnsemble(t, 3, chaos)
		connect, dial, stop, events = ens.ConnectString(), ens.Dialer(), ens.StopFaults, ens.Events
		ens.Members()[0].Lag(2 * time.Second) // it never leads: others have seen more
	}
	opts = append(opts, framework.WithDialer(dial), framework.WithSessionTimeout(trialSession))
	defer func() { r.events = events() }()
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

func (r *trial) plan() zktest.ChaosPlan {
	const long = 2 * trialSession
	return zktest.ChaosPlan{
		Seed: r.seed,
		Faults: []zktest.FaultRate{
			{Chance: 0.01, Rule: zktest.Rule{Do: zktest.DropRequest()}},
			{Chance: 0.02, Rule: zktest.Rule{Do: zktest.DropReply()}},
			{Chance: 0.004, Rule: zktest.Rule{Do: zktest.Blackhole()}},
			{Chance: 0.004, Rule: zktest.Rule{Do: zktest.BlackholeReply()}},
			{Chance: 0.02, Rule: zktest.Rule{Do: zktest.DelayReply(3 * time.Second)}},
			{Chance: 0.02, Rule: zktest.Rule{Do: zktest.DelayRequest(3 * time.Second)}},
			{Chance: 0.01, Rule: zktest.Rule{Do: zktest.Fail(zktest.ErrSystem)}},
		},
		Every: 15 * time.Second,
		Disruptions: []zktest.Disruption{
			zktest.CutSession(), zktest.CutSession(), zktest.ReplaceSession(), zktest.ExpireSession(),
			zktest.ReapContainers(), zktest.StopFor(long), zktest.PauseFor(long), zktest.BlackholeFor(long),
			zktest.RefuseFor(long), zktest.PauseSessionFor(long), zktest.PauseSessionFor(trialSession / 2),
		},
	}
}

// live is the life of one client.
func (r *trial) live(c *framework.Client, i int) {
	opts := [][]atomic.Option{nil, {atomic.WithReceipts("/receipts")}, {atomic.WithPromotion("/lock", 2)},
		{atomic.WithReceipts("/receipts"), atomic.WithPromotion("/lock", 2)}}[i]
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
func (w *writer) change(h *history, n number, add func(ctx context.Context, delta int64) (int64, error)) error {
	ctx, cancel := w.patience()
	defer cancel()
	in := input{op: "add", a: 1}
	do := func() (out output, err error) {
		out.now, err = add(ctx, in.a)
		return out, err
	}
	switch w.rng.IntN(10) {
	case 0:
		return w.load(h, n)
	case 1:
		in = input{op: "store", a: w.rng.Int64N(5)}
		do = func() (output, error) { return output{}, n.Store(ctx, in.a) }
	case 2, 3:
		in = input{op: "swap", a: w.rng.Int64N(10), b: w.rng.Int64N(10)}
		do = func() (out output, err error) {
			out.swapped, err = n.CompareAndSwap(ctx, in.a, in.b)
			return out, err
		}
	case 4, 5:
		in = input{op: "triple"}
		do = func() (out output, err error) {
			out.now, err = n.Update(ctx, func(old int64) (int64, error) { return triple(old), nil })
			return out, err
		}
	}
	return w.do(h, in, do)
}

func (w *writer) load(h *history, n number) error {
	ctx, cancel := w.patience()
	defer cancel()
	return w.do(h, input{op: "load"}, func() (out output, err error) {
		out.now, err = n.Load(ctx)
		return out, err
	})
}

func (w *writer) count(h *history, next func(context.Context) (int64, error)) {
	ctx, cancel := w.patience()
	defer cancel()
	_ = w.do(h, input{op: "next"}, func() (out output, err error) {
		out.now, err = next(ctx)
		return out, err
	})
}

// do takes an operation down. Its errors must be those of impatience.
func (w *writer) do(h *history, in input, do func() (output, error)) error {
	err := h.do(w.id, in, do)
	var server *framework.ServerError
	switch {
	case err == nil, errors.Is(err, context.DeadlineExceeded), errors.Is(err, framework.ErrOutcomeUnknown):
	case in.op == "next" && (framework.IsConnectionError(err) || errors.As(err, &server)): // as of any request
	default:
		w.Errorf("writer %d: %v", w.id, err)
	}
	return err
}

func (r *trial) check() {
	for _, c := range []struct {
		name  string
		of    *history
		model porcupine.Model
	}{
		{"the Long", &r.long, numberModel},
		{"the Value", &r.value, numberModel},
		{"Next", &r.next, sequenceModel},
		{"NextDense", &r.dense, sequenceModel},
	} {
		require.Greater(r, len(c.of.operations)-c.of.unknown, 20, "%s has told too little to show anything", c.name)
		require.Greater(r, len(c.of.operations), 40, "%s had too little to do", c.name)
		if result := c.of.check(c.model); result != porcupine.Ok {
			r.Errorf("the history of %s is %s:", c.name, result)
			for _, o := range c.of.operations {
				r.Logf("%d to %d: writer %d: %s", o.Call, o.Return, o.ClientId, describe(o.Input, o.Output))
			}
		}
	}
}
