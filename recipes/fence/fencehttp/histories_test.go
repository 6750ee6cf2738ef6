package fencehttp_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/histories"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/fence/fencehttp"
)

// seeds is how many histories of each kind there are.
const seeds = 20

// plays returns the history of eight clients that write to a register and read it. The
// lock passes to another client at random, and no client notices that it has lost it. The
// network delays requests and answers, the service pauses, and some answers are lost.
func plays(t *testing.T, seed uint64, store fence.Store, guard *fence.Guard) *histories.History {
	var h histories.History
	synctest.Test(t, func(t *testing.T) {
		random := locked(seed)
		pause := func() { time.Sleep(time.Duration(random(1e6))) }
		data := register{guard: guard, pause: func(string) { pause() }}
		var mu sync.Mutex // protects newest
		var newest int64
		service := to(fencehttp.Handler(store, lockOf("/lock"), &data), pause)
		var clients sync.WaitGroup
		for client := range 8 {
			clients.Go(func() {
				var token int64
				for n := range 6 {
					if token == 0 || random(3) == 0 {
						mu.Lock()
						newest++
						token = newest
						mu.Unlock()
					}
					pause()
					call := h.Begin(client)
					if random(3) == 0 {
						now := data.read()
						pause()
						call.End(histories.Read{}, now)
						continue
					}
					asked := histories.Write{Token: token, Value: fmt.Sprint(client, " ", n)}
					answer, err := post(under(token), service, asked.Value)
					pause()
					switch {
					case err != nil:
						t.Error(err)
					case random(10) == 0:
						call.Open(asked)
					case answer.StatusCode == http.StatusOK:
						call.End(asked, histories.Done(true))
					default: // a larger token may have come to the entrance, and not written yet
					}
				}
			})
		}
		clients.Wait()
	})
	return &h
}

// locked returns random numbers to several goroutines.
func locked(seed uint64) func(n int64) int64 {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 0))
	return func(n int64) int64 {
		mu.Lock()
		defer mu.Unlock()
		return r.Int64N(n)
	}
}

// Promise: writes through a service that checks the token at the entrance and in the
// write are linearizable: each is applied at one moment between its begin and its end,
// and at that moment no client with a larger token has written.
func TestHistoriesAreLinearizable(t *testing.T) {
	for seed := range uint64(seeds) {
		var guard fence.Guard
		require.NoError(t, plays(t, seed, &guard, &guard).Check(histories.FencedRegister), "seed %d", seed)
	}
}

// The model rejects a history of each service that lacks a check in the write.
func TestFaultsAreNoticed(t *testing.T) {
	admitAll := storeFunc(func(context.Context, string, fence.Lease) error { return nil })
	for name, world := range map[string]func() (fence.Store, *fence.Guard){
		"no check":                      func() (fence.Store, *fence.Guard) { return admitAll, nil },
		"a check at the entrance alone": func() (fence.Store, *fence.Guard) { return &fence.Guard{}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(seeds) {
				store, guard := world()
				if plays(t, seed, store, guard).Check(histories.FencedRegister) != nil {
					return
				}
			}
			t.Error("each history has an explanation")
		})
	}
}
