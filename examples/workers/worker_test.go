package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// sharesOf returns the orders of each worker.
func sharesOf(names []string) map[string][]string {
	shares := map[string][]string{}
	for i := range orders {
		order := fmt.Sprintf("%02d", i)
		shares[owner(order, names)] = append(shares[owner(order, names)], order)
	}
	return shares
}

// Each worker has several orders, which the story needs. If one leaves, only its
// orders change hands.
func TestOwner(t *testing.T) {
	before := sharesOf(names)
	for i, name := range names {
		require.GreaterOrEqual(t, len(before[name]), 3, name)
		others := append(append([]string{}, names[:i]...), names[i+1:]...)
		after := sharesOf(others)
		for _, other := range others {
			require.Subset(t, after[other], before[other], "%s without %s", other, name)
		}
	}
	require.Empty(t, owner("01", nil))
}

// warehouse is where the workers of a test pack: an order takes a second.
type warehouse struct {
	srv    *zktest.Server
	client *framework.Client // of the test

	mu     sync.Mutex
	begun  []string // orders, each time that a worker begins with one
	inside int      // how many pack now
	most   int      // ... at the same time
}

func openWarehouse(t *testing.T) *warehouse {
	srv := zktest.Start(t)
	require.NoError(t, srv.Create("/invoices", nil))
	for i := range orders {
		require.NoError(t, srv.Create(fmt.Sprintf("/pool/orders/%02d", i), nil))
	}
	return &warehouse{srv: srv, client: curatortest.Connect(t, srv)}
}

func (h *warehouse) pack(ctx context.Context, order string) error {
	h.count(1, order)
	defer h.count(-1)
	select {
	case <-time.After(time.Second):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (h *warehouse) count(n int, begun ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inside += n
	h.most = max(h.most, h.inside)
	h.begun = append(h.begun, begun...)
}

func (h *warehouse) seen() (begun []string, most int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.begun), h.most
}

// hire starts a worker on a host, which works until the test ends.
func (h *warehouse) hire(t *testing.T, host *zktest.Host, name string) *worker {
	client := curatortest.Connect(t, h.srv, framework.WithDialer(host.Dialer()), framework.WithSessionTimeout(10*time.Second))
	w := &worker{name: name, client: client, pack: h.pack}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- w.run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) && !errors.Is(err, framework.ErrSessionLost) {
			t.Error(name, err)
		}
	})
	return w
}

// invoices returns the orders that were packed, and by whom. No order may have
// two invoices.
func (h *warehouse) invoices(t *testing.T) map[string]string {
	packed := map[string]string{}
	for _, node := range h.srv.Tree() {
		if order, by, ok := strings.Cut(string(node.Data), " by "); ok {
			require.NotContains(t, packed, order)
			packed[order] = by
		}
	}
	return packed
}

// Nobody packs until the barrier falls. Then each worker packs its own orders,
// no more at the same time than there are tables. There are two, and then four.
func TestShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := openWarehouse(t)
		start := barriers.NewBarrier(h.client, "/start")
		_, err := start.Raise(t.Context())
		require.NoError(t, err)
		for _, name := range names {
			h.hire(t, h.srv.NewHost(), name)
		}
		time.Sleep(time.Minute)
		begun, _ := h.seen()
		require.Empty(t, begun)

		require.NoError(t, start.Lower(t.Context()))
		time.Sleep(3500 * time.Millisecond)
		_, most := h.seen()
		require.Equal(t, 2, most)
		require.NoError(t, locks.SetSharedLimit(t.Context(), h.client, limit, 4))
		require.NoError(t, h.srv.WaitChildren(t.Context(), "/pool/orders", 0))
		begun, most = h.seen()
		require.Equal(t, 4, most)
		require.Len(t, begun, orders, "none is packed twice")
		packed := h.invoices(t)
		require.Len(t, packed, orders)
		for order, by := range packed {
			require.Equal(t, owner(order, names), by)
		}
	})
}

// A machine is cut off for good while its worker packs. When its session is
// over, the others pack what it has left.
func TestOthersTakeOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := openWarehouse(t)
		doomed := h.srv.NewHost()
		h.hire(t, doomed, "berlin")
		for _, name := range names[1:] {
			h.hire(t, h.srv.NewHost(), name)
		}
		time.Sleep(2500 * time.Millisecond)
		doomed.Isolate()
		require.NoError(t, h.srv.WaitChildren(t.Context(), "/pool/orders", 0))
		packed := h.invoices(t)
		require.Len(t, packed, orders)
		var left int
		for order, by := range packed {
			if by != "berlin" && owner(order, names) == "berlin" {
				left++
			}
		}
		require.GreaterOrEqual(t, left, 3)
		_, most := h.seen()
		require.Equal(t, 2, most, "a lost table is free when the session is over")
	})
}

// Two workers take the same order for theirs. Both pack it, there is one invoice,
// and neither fails.
func TestOneInvoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := openWarehouse(t)
		_, err := barriers.NewBarrier(h.client, "/start").Raise(t.Context())
		require.NoError(t, err)
		a, b := h.hire(t, h.srv.NewHost(), "berlin"), h.hire(t, h.srv.NewHost(), "oslo")
		synctest.Wait() // both wait at the barrier
		done := make(chan error)
		for _, w := range []*worker{a, b} {
			go func() { done <- w.do(t.Context(), "00") }()
		}
		require.NoError(t, <-done)
		require.NoError(t, <-done)
		begun, _ := h.seen()
		require.Equal(t, []string{"00", "00"}, begun)
		require.Len(t, h.invoices(t), 1)
	})
}
