package curatorz

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/debug/snapshot"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// shop is some services on one server, in virtual time.
type shop struct {
	t   *testing.T
	srv *zktest.Server
	ctx context.Context // ends with the story, and so what still waits then

	orders   *framework.Client // whose page it is
	host     *zktest.Host      // of orders
	released chan error        // what orders still waits for, and for how many
	waits    int
}

// livedIn returns a snapshot of a service after three hours of work: who holds,
// who waits for whom, and what has happened. It is the same in every run.
func livedIn(t *testing.T) (s snapshot.Snapshot) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		srv := zktest.Start(t)
		srv.Inject(zktest.Rule{Op: zktest.OpAny, Times: -1, Do: zktest.DelayReply(2 * time.Millisecond)})
		require.NoError(t, srv.Create("/shop", nil))
		shop := &shop{t: t, srv: srv, ctx: ctx, host: srv.NewHost(), released: make(chan error)}
		shop.orders = shop.connect("orders", shop.host.Dialer())
		shop.standBy()
		time.Sleep(2*time.Hour + 47*time.Minute)
		shop.work()
		time.Sleep(1300 * time.Millisecond)
		s = snapshot.Of(shop.orders)
		end()
		for range shop.waits {
			require.ErrorIs(t, <-shop.released, context.Canceled)
		}
	})
	return retold(t, s)
}

// connect returns a client of a service.
func (s *shop) connect(name string, dial framework.DialFunc) *framework.Client {
	client, err := framework.Connect(s.ctx, s.srv.Addr()+"/shop", framework.WithDialer(dial),
		framework.WithServiceName(name), framework.WithSessionTimeout(15*time.Second))
	require.NoError(s.t, err)
	s.t.Cleanup(func() { client.Close() })
	return client
}

// mutex returns a lock as another service wants it, from a machine of its own.
func (s *shop) mutex(path, service, host string, pid int) *locks.InterProcessMutex {
	return locks.NewInterProcessMutex(s.connect(service, s.srv.Dialer()), path, identity(service, host, pid))
}

func identity(service, host string, pid int) locks.Option {
	return locks.WithNodeData(fmt.Appendf(nil, `{"v":1,"service":%q,"host":%q,"pid":%d}`, service, host, pid))
}

// standBy registers orders, fills its cache, and makes it the leader.
func (s *shop) standBy() {
	for i := range 12 {
		require.NoError(s.t, s.srv.Create("/shop/stock/sku-"+strconv.Itoa(i), nil))
	}
	registration, err := nodes.NewPersistentNode(s.orders, "/workers/web-1", nil)
	require.NoError(s.t, err)
	_, err = registration.WaitRegistered(s.ctx)
	require.NoError(s.t, err)
	stock, err := cache.New(s.orders, "/stock")
	require.NoError(s.t, err)
	require.NoError(s.t, stock.WaitSynced(s.ctx))
	latch, err := leader.NewLatch(s.orders, "/leaders/refunds")
	require.NoError(s.t, err)
	_, err = latch.WaitLeadership(s.ctx)
	require.NoError(s.t, err)
	s.t.Cleanup(func() {
		ctx := context.WithoutCancel(s.ctx)
		require.NoError(s.t, latch.Shutdown(ctx))
		require.NoError(s.t, stock.Close())
		require.NoError(s.t, registration.Shutdown(ctx))
	})
}

// lose has somebody delete the node of a lock that orders holds.
func (s *shop) lose(lease *locks.Lease) {
	require.NoError(s.t, s.srv.Delete("/shop"+lease.Path()))
	<-lease.Context().Done()
	require.ErrorIs(s.t, lease.Release(s.ctx), locks.ErrNodeDeleted)
}

// acquirer is a lock of any kind.
type acquirer interface {
	Acquire(ctx context.Context) (*locks.Lease, error)
}

// acquire acquires a lock that is free, and holds it until the story ends.
func (s *shop) acquire(lock acquirer) *locks.Lease {
	lease, err := lock.Acquire(s.ctx)
	require.NoError(s.t, err)
	synctest.Wait()
	return lease
}

// await has a goroutine wait for a lock until the story ends.
func (s *shop) await(lock acquirer) {
	s.waits++
	go func() {
		_, err := lock.Acquire(s.ctx)
		s.released <- err
	}()
	synctest.Wait()
}

// work has orders hold some locks, and wait for others.
func (s *shop) work() {
	lost := s.acquire(locks.NewInterProcessMutex(s.orders, "/locks/sku-7", locks.WithRevocation()))
	// Billing has held the invoices for minutes. Shipping stands behind it, and
	// orders behind shipping.
	s.acquire(s.mutex("/locks/invoices", "billing", "web-2", 812))
	time.Sleep(90 * time.Second)
	s.await(s.mutex("/locks/invoices", "shipping", "web-3", 77))
	time.Sleep(50 * time.Second)
	s.await(locks.NewInterProcessMutex(s.orders, "/locks/invoices"))

	time.Sleep(65 * time.Second)
	pricing := s.connect("pricing", s.srv.Dialer())
	s.acquire(locks.NewInterProcessReadWriteLock(pricing, "/locks/prices", identity("pricing", "web-4", 5)).WriteLock())
	time.Sleep(8 * time.Second)
	s.await(locks.NewInterProcessReadWriteLock(s.orders, "/locks/prices").ReadLock())

	sku := locks.NewInterProcessMutex(s.orders, "/locks/sku-42", locks.WithName("stock"))
	held := s.acquire(sku)
	held.Revoked() // it listens, and decides by itself what to do
	time.Sleep(9 * time.Second)
	s.await(sku)
	time.Sleep(4 * time.Second)
	require.NoError(s.t, locks.Revoke(s.ctx, pricing, held.Path()))
	time.Sleep(1500 * time.Millisecond)
	s.lose(lost)
	time.Sleep(600 * time.Millisecond)
	_, err := locks.NewInterProcessSemaphore(s.orders, "/limits/mail", locks.Limit(5)).AcquireN(s.ctx, 3)
	require.NoError(s.t, err)
	synctest.Wait()
}

// retold replaces what differs from run to run and from machine to machine: the
// process, the ids of nodes, and the address. Virtual time begins in the year
// 2000; the story is of a later day.
func retold(t *testing.T, s snapshot.Snapshot) snapshot.Snapshot {
	t.Helper()
	later := time.Date(2026, 3, 14, 11, 20, 0, 0, time.UTC).Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
	s.Process = snapshot.Process{Program: "orders", Host: "web-1", PID: 4711, GoVersion: "go1.26", Goroutines: 42}
	data, err := json.Marshal(s)
	require.NoError(t, err)
	var all any
	require.NoError(t, json.Unmarshal(data, &all))
	data, err = json.Marshal(replaced(all, func(text string) string {
		if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return at.UTC().Add(later).Format(time.RFC3339Nano)
		}
		text = protectedID.ReplaceAllString(text, "_c_00000000-0000-0000-0000-000000000000-")
		return strings.ReplaceAll(text, "127.0.0.1:1", "zk1:2181")
	}))
	require.NoError(t, err)
	var told snapshot.Snapshot
	require.NoError(t, json.Unmarshal(data, &told))
	watches := told.Clients[0].Watches.Items // were sorted by the ids
	slices.SortFunc(watches, func(a, b snapshot.Watch) int { return cmp.Compare(a.Path, b.Path) })
	return told
}

var protectedID = regexp.MustCompile(`_c_[0-9a-f-]{36}-`)

// replaced returns a JSON value with other texts.
func replaced(value any, text func(string) string) any {
	switch v := value.(type) {
	case string:
		return text(v)
	case []any:
		for i := range v {
			v[i] = replaced(v[i], text)
		}
	case map[string]any:
		for key := range v {
			v[key] = replaced(v[key], text)
		}
	}
	return value
}
