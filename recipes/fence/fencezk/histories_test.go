package fencezk_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/histories"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/fence/fencezk"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

var seeds = recipetest.SeedFlags("fence", 100)

// random returns random numbers to several goroutines.
func random(seed uint64) func(n int64) int64 {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 0))
	return func(n int64) int64 {
		mu.Lock()
		defer mu.Unlock()
		return r.Int64N(n)
	}
}

// writer writes a value to the node /data under a lease.
type writer func(ctx context.Context, c *framework.Client, l *locks.Lease, value []byte) error

func fenced(ctx context.Context, c *framework.Client, l *locks.Lease, value []byte) error {
	_, err := fencezk.New(c, l).Set(ctx, "/data", value, framework.AnyVersion)
	return err
}

// plays returns the history of eight clients that take a lock in turn, and write and
// read a node. The network loses connections and delays requests, and the server ends
// sessions, whatever their clients are doing. No client looks at its lease.
func plays(t *testing.T, seed uint64, write writer) *histories.History {
	var h histories.History
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		ctx, over := context.WithCancel(w.Patience(t))
		defer over()
		random := random(seed)
		within := func(d time.Duration) { time.Sleep(time.Duration(random(int64(d)))) }
		require.NoError(t, w.Fake.Create("/data", nil))
		var clients, faults sync.WaitGroup
		for client := range 8 {
			c, network := w.Connect(t)
			faults.Go(func() {
				for ctx.Err() == nil {
					within(40 * time.Second)
					switch random(3) {
					case 0:
						network.Cut()
					case 1:
						network.Refuse(true)
						network.Cut()
						within(20 * time.Second)
						network.Refuse(false)
					case 2:
						w.Fake.Session(c.SessionID()).Expire()
					}
				}
			})
			clients.Go(func() {
				for n := range 3 {
					lease, err := locks.NewInterProcessMutex(c, "/lock").Acquire(ctx)
					if err != nil {
						t.Error(err)
						return
					}
					for i := range 3 {
						within(5 * time.Second)
						call := h.Begin(client)
						if i == 1 {
							if data, _, err := c.Get(ctx, "/data"); err == nil {
								call.End(histories.Read{}, string(data))
							}
							continue
						}
						asked := histories.Write{Token: lease.FencingToken(), Value: fmt.Sprint(client, " ", n, " ", i)}
						switch err := write(ctx, c, lease, []byte(asked.Value)); {
						case err == nil:
							call.End(asked, histories.Done(true))
						case errors.Is(err, framework.ErrOutcomeUnknown):
							call.Open(asked)
						default: // it has changed nothing, and there need not be a successor yet
						}
					}
					_ = lease.Release(ctx)
				}
			})
		}
		clients.Wait()
		over()
		faults.Wait()
	})
	return &h
}

// Promise: writes of clients that lose their locks at any moment, and go on, are
// linearizable: each is applied at one moment between its begin and its end, and at
// that moment no client with a larger token has written.
func TestHistoriesAreLinearizable(t *testing.T) {
	seeds.InTurn(t, func(t *testing.T, seed uint64) {
		require.NoError(t, plays(t, seed, fenced).Check(histories.FencedRegister))
	})
}

// The model rejects a history of each writer whose check is not in the write.
func TestFaultsAreNoticed(t *testing.T) {
	set := func(ctx context.Context, c *framework.Client, value []byte) error {
		_, err := c.Set(ctx, "/data", value, framework.AnyVersion)
		return err
	}
	for name, write := range map[string]writer{
		"a look at the lease": func(ctx context.Context, c *framework.Client, l *locks.Lease, value []byte) error {
			if err := l.Context().Err(); err != nil {
				return err
			}
			return set(ctx, c, value)
		},
		"a check in a transaction before": func(ctx context.Context, c *framework.Client, l *locks.Lease, value []byte) error {
			if _, err := c.Transaction(ctx, l.Checks()...); err != nil {
				return err
			}
			time.Sleep(5 * time.Second)
			return set(ctx, c, value)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(50) {
				if plays(t, seed, write).Check(histories.FencedRegister) != nil {
					return
				}
			}
			t.Error("each history has an explanation")
		})
	}
}

// raises returns the history of eight clients that raise tokens in a store of theirs. The
// network loses connections, and replies.
func raises(t *testing.T, seed uint64, storeOf func(c *framework.Client) fence.Store) *histories.History {
	var h histories.History
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		random := random(seed)
		ctx := w.Patience(t)
		for range 4 {
			w.Fake.Inject(zktest.Rule{Optional: true, After: int(random(150)), Times: 1, Do: zktest.DropReply()})
		}
		w.Fake.Inject(zktest.Rule{Do: zktest.Call(func(zktest.Request) { time.Sleep(time.Duration(random(1e6))) })})
		var clients sync.WaitGroup
		for client := range 8 {
			c, _ := w.Connect(t)
			store := storeOf(c)
			clients.Go(func() {
				for range 5 {
					time.Sleep(time.Duration(random(1e6)))
					asked := histories.Write{Token: 1 + random(20)}
					call := h.Begin(client)
					switch err := store.Raise(ctx, "/lock", lease(asked.Token)); {
					case err == nil:
						call.End(asked, histories.Done(true))
					case errors.Is(err, fence.ErrStale):
						call.End(asked, histories.Done(false))
					default:
						call.Open(asked)
					}
				}
			})
		}
		clients.Wait()
	})
	return &h
}

// Promise: to compare a token and to raise it is one step, also at a lost reply.
func TestHistoriesOfStoresAreLinearizable(t *testing.T) {
	var guard *fence.Guard
	for name, storeOf := range map[string]func(c *framework.Client) fence.Store{
		"ZooKeeper": func(c *framework.Client) fence.Store { return fencezk.NewStore(c, "/fences") },
		"memory":    func(*framework.Client) fence.Store { return guard },
	} {
		t.Run(name, func(t *testing.T) {
			seeds.InTurn(t, func(t *testing.T, seed uint64) {
				guard = &fence.Guard{}
				require.NoError(t, raises(t, seed, storeOf).Check(histories.FencedRegister))
			})
		})
	}
}

// The model rejects a history of each store that has a fault which people make.
func TestFaultsOfStoresAreNoticed(t *testing.T) {
	for name, raise := range map[string]func(ctx context.Context, c *framework.Client, newest, token int64) error{
		"the check is another request": func(ctx context.Context, c *framework.Client, newest, token int64) error {
			if token < newest {
				return fence.ErrStale
			}
			return put(ctx, c, token)
		},
		"an equal token is refused": func(ctx context.Context, c *framework.Client, newest, token int64) error {
			if token <= newest {
				return fence.ErrStale
			}
			return put(ctx, c, token)
		},
		"the token is not raised": func(_ context.Context, _ *framework.Client, newest, token int64) error {
			if token < newest {
				return fence.ErrStale
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(50) {
				storeOf := func(c *framework.Client) fence.Store { return faulty{c, raise} }
				if raises(t, seed, storeOf).Check(histories.FencedRegister) != nil {
					return
				}
			}
			t.Error("each history has an explanation")
		})
	}
}

// faulty is a store that reads the newest token, and then raises it by the function.
type faulty struct {
	c     *framework.Client
	raise func(ctx context.Context, c *framework.Client, newest, token int64) error
}

func (s faulty) Raise(ctx context.Context, _ string, l fence.Lease) error {
	var newest int64
	if data, _, err := s.c.Get(ctx, "/token"); err == nil {
		_, _ = fmt.Sscan(string(data), &newest)
	}
	return s.raise(ctx, s.c, newest, l.FencingToken())
}

func put(ctx context.Context, c *framework.Client, token int64) error {
	_, err := c.Create(ctx, "/token", []byte(fmt.Sprint(token)), framework.WithOverwrite(framework.AnyVersion))
	return err
}
