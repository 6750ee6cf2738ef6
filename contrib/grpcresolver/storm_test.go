package grpcresolver_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gocurator/curator/internal/recipetest"
)

var stormSeeds = recipetest.SeedFlags("storm", 5)

// Instances come, drain, flicker, fail and lose their connections under calls.
// One stays. No call waits for what does not come, and in the end all are called.
func TestCallsWhileInstancesComeAndGo(t *testing.T) {
	stormSeeds.InTurn(t, func(t *testing.T, seed uint64) {
		inVirtualTime(t, func(t *testing.T, w *world) { w.storm(t, seed) })
	})
}

func (w *world) storm(t *testing.T, seed uint64) {
	const count, stays = 6, 1
	chance := rand.New(rand.NewPCG(seed, 0))
	pause := func() { time.Sleep(upTo(chance, 2*time.Second)) }
	var n network
	all := n.backends(t, w, stays)
	kills := make([]func(), count)
	come := func(at int) {
		b := &backend{address: fmt.Sprint("10.0.0.7:", at+1)}
		kills[at] = n.serveWith(t, b.address, "orders", b.answer)
		if at < len(all) {
			all[at] = b
			return
		}
		all = append(all, b)
		w.put(t, replica(id(at), at+1))
	}
	for at := stays; at < count; at++ {
		come(at)
	}
	conn := dial(t, &n, w.builder(), orders)
	ready(conn)
	over := make(chan struct{})
	var callers sync.WaitGroup
	for caller := range uint64(4) {
		callers.Go(func() { callUntil(t, conn, over, rand.New(rand.NewPCG(seed, 1+caller))) })
	}
	for range 40 {
		at := stays + chance.IntN(count-stays)
		i := replica(id(at), at+1)
		switch chance.IntN(5) {
		case 0:
			kills[at]()
			pause()
			come(at)
		case 1:
			i.Disabled = true
			w.put(t, i)
			pause()
			i.Disabled = false
			w.put(t, i)
		case 2:
			w.remove(t, i.ID)
			pause()
			w.put(t, i)
		case 3:
			i.Metadata = map[string]string{"round": fmt.Sprint(chance.Int())}
			w.put(t, i)
		case 4:
			all[at].code.Store(uint32(codes.Unavailable))
			pause()
			all[at].code.Store(uint32(codes.OK))
		}
		pause()
	}
	close(over)
	callers.Wait()
	time.Sleep(20 * time.Minute) // the longest pause between two dials, and more
	for _, b := range all {
		b.calls.Store(0)
	}
	for range 10 * count {
		_, err := ask(t.Context(), conn)
		require.NoError(t, err)
	}
	for _, b := range all {
		require.NotZero(t, b.calls.Load(), b.address)
	}
}

func id(at int) string { return string(rune('a' + at)) }

func upTo(chance *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(chance.Int64N(int64(d)))
}

// callUntil makes calls, each of which ends at once.
func callUntil(t *testing.T, conn *grpc.ClientConn, over <-chan struct{}, chance *rand.Rand) {
	for {
		select {
		case <-over:
			return
		case <-time.After(upTo(chance, time.Second)):
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		_, err := ask(ctx, conn)
		cancel()
		if err != nil && status.Code(err) != codes.Unavailable {
			t.Error(err)
		}
	}
}
