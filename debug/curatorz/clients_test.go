package curatorz

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// inVirtualTime runs a test with a server and a client that has its own host.
func inVirtualTime(t *testing.T, test func(t *testing.T, srv *zktest.Server, host *zktest.Host, p *page, c *framework.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		host := srv.NewHost()
		p, c := connect(t, srv, framework.WithDialer(host.Dialer()), framework.WithSessionTimeout(10*time.Second),
			framework.WithServiceName("orders"))
		test(t, srv, host, p, c)
	})
}

// connect returns a page and its client.
func connect(t *testing.T, srv *zktest.Server, opts ...framework.Option) (*page, *framework.Client) {
	t.Helper()
	p := newPage()
	return p, curatortest.Connect(t, srv, append(opts, framework.WithHooks(p))...)
}

// one returns what a page shows of its only client.
func one(t *testing.T, p *page) client {
	t.Helper()
	synctest.Wait() // some hooks are called on another goroutine
	all := documentOf(p.take(), query{All: true}).Clients
	require.Len(t, all, 1)
	return all[0]
}

// cells returns the first cells of each row of a section.
func cells(c client, name string, n int) (all [][]string) {
	for _, s := range c.Sections {
		if s.Name == name {
			for _, r := range s.Rows {
				all = append(all, r.Cells[:n])
			}
		}
	}
	return all
}

// events returns the names and texts of the events of a client, the oldest first,
// without the events of the connection.
func events(c client) (names, texts []string) {
	for _, e := range cells(c, "events", 4) {
		if e[1] != "client" && e[1] != "state" {
			names, texts = append([]string{e[1]}, names...), append([]string{e[3]}, texts...)
		}
	}
	return names, texts
}

func factOf(c client, name string) string {
	for _, f := range c.Facts {
		if f.Name == name {
			return f.Text
		}
	}
	return ""
}

// outage ends the connection of a host. The function returned ends the outage.
func outage(host *zktest.Host) (heal func()) {
	host.Isolate()
	host.Disconnect()
	synctest.Wait()
	return host.Heal
}

func exists(srv *zktest.Server, path string) bool {
	_, there := srv.Node(path)
	return there
}

// Two clients want a lock; one of them has two goroutines that do.
func TestWhoHoldsAndWhoWaitsForWhom(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, _ *zktest.Host, p *page, a *framework.Client) {
		pageOfB, b := connect(t, srv, framework.WithServiceName("bills"))
		lease, err := locks.NewInterProcessMutex(a, "/lock", locks.WithName("stock")).Acquire(t.Context())
		require.NoError(t, err)
		time.Sleep(3 * time.Second)
		waiting := locks.NewInterProcessMutex(b, "/lock")
		for range 3 {
			go waiting.Do(t.Context(), func(context.Context) error {
				time.Sleep(time.Second)
				return nil
			})
			synctest.Wait()
		}
		time.Sleep(2 * time.Second)
		require.Equal(t, [][]string{{"/lock", `mutex "stock"`, "5s"}}, cells(one(t, p), "holds", 3))
		require.Equal(t, [][]string{
			{"/lock", "mutex", "2s", "waits at the server, 1 ahead, as seen 2s ago"},
			{"/lock", "mutex", "2s", "waits for others of this client, 1 ahead, as seen 2s ago"},
			{"/lock", "mutex", "2s", "waits for others of this client, 2 ahead, as seen 2s ago"},
		}, cells(one(t, pageOfB), "waits", 4))
		first := cells(one(t, pageOfB), "waits", 6)[0]
		require.Regexp(t, `^orders@\S+ \(lock-0000000000\) queued 5s ago$`, first[4])
		require.Equal(t, "the holder", first[5])
		require.Equal(t, first[4], cells(one(t, pageOfB), "waits", 5)[1][4], "a goroutine in the line waits for the same holder")
		require.NoError(t, locks.Revoke(t.Context(), b, lease.Path()))
		require.Contains(t, cells(one(t, p), "holds", 4)[0][3], "held, asked to release it")

		require.NoError(t, lease.Release(t.Context()))
		time.Sleep(1500 * time.Millisecond) // the second of b's goroutines has it
		names, _ := events(one(t, p))
		require.Equal(t, []string{"acquired", "revoked", "released"}, names)
		require.Contains(t, cells(one(t, pageOfB), "holds", 4)[0][3], "1 of this client waiting, acquired in 3s")
		waits := cells(one(t, pageOfB), "waits", 6)
		require.Len(t, waits, 1)
		require.Contains(t, waits[0][4]+waits[0][5], "this client", "it waits for a goroutine of its own client")

		time.Sleep(time.Minute)
		for _, p := range []*page{p, pageOfB} {
			require.Empty(t, cells(one(t, p), "holds", 1))
			require.Empty(t, cells(one(t, p), "waits", 1))
		}
	})
}

// Time is counted as the client counts it: from the last contact, less the
// margin. An outage shows up as what it is.
func TestTheSessionsTimeRunsOut(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *zktest.Server, host *zktest.Host, p *page, c *framework.Client) {
		time.Sleep(time.Hour)
		require.Equal(t, "connected for 1h", one(t, p).State)
		require.Equal(t, "connected", cells(one(t, p), "servers", 2)[0][1])
		require.Regexp(t, `^[5-9](\.\d)?s of 10s$`, factOf(one(t, p), "time left without an answer"))

		heal := outage(host)
		time.Sleep(time.Second)
		require.Equal(t, "suspended for 1s", one(t, p).State)
		require.False(t, one(t, p).Good)
		require.Contains(t, cells(one(t, p), "servers", 2)[0][1], "not connected")
		require.Contains(t, factOf(one(t, p), "time left without an answer"), " of 10s")

		time.Sleep(8 * time.Second)
		require.Contains(t, one(t, p).State, "lost for ")
		require.NotEmpty(t, factOf(one(t, p), "no connection"))
		require.NotEmpty(t, cells(one(t, p), "servers", 5)[0][4])
		last := cells(one(t, p), "events", 4)[0]
		require.Equal(t, "state", last[1])
		require.Regexp(t, "^lost: .*no answer within its time", last[3])

		heal()
		require.NoError(t, c.WaitConnected(t.Context()))
		require.Contains(t, one(t, p).State, "reconnected for ")
		require.Empty(t, factOf(one(t, p), "no connection"))
		require.Empty(t, cells(one(t, p), "servers", 5)[0][4])
	})
}

// One page shows several clients, and the last closed ones.
func TestPageOfSeveralClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, p := zktest.Start(t), newPage()
		var opened []*framework.Client
		for i := range mostClosed + 3 {
			name := fmt.Sprint("client-", i)
			opened = append(opened, curatortest.Connect(t, srv, framework.WithHooks(p), framework.WithServiceName(name)))
		}
		shown := func() (names, states []string) {
			for _, c := range documentOf(p.take(), query{}).Clients {
				names, states = append(names, c.Name), append(states, c.State)
			}
			return names, states
		}
		names, states := shown()
		require.Len(t, names, mostClosed+3)
		require.Equal(t, "client-0", names[0])
		require.Equal(t, "connected for 0s", states[0])
		for _, c := range opened[1:] {
			require.NoError(t, c.Close())
		}
		names, states = shown()
		require.Len(t, names, 1+mostClosed)
		require.Equal(t, []string{"client-0", "client-3"}, names[:2])
		require.Equal(t, []string{"connected for 0s", "closed"}, states[:2])
	})
}

func TestRegistrations(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, _ *zktest.Host, p *page, c *framework.Client) {
		other := curatortest.Connect(t, srv)
		_, err := other.Create(t.Context(), "/w/2", nil, framework.WithMode(framework.Ephemeral), framework.WithParents())
		require.NoError(t, err)
		for _, path := range []string{"/w/2", "/w/1"} {
			n, err := nodes.NewPersistentNode(c, path, nil)
			require.NoError(t, err)
			defer n.Shutdown(context.Background())
		}
		synctest.Wait()
		time.Sleep(time.Minute)
		all := cells(one(t, p), "registrations", 3)
		require.Len(t, all, 2)
		require.Equal(t, []string{"/w/1", "registered for 1m"}, all[0][:2])
		require.Contains(t, all[0][2], "/w/1, czxid 0x")
		require.Equal(t, "/w/2", all[1][0])
		require.Regexp(t, "^NOT registered for 1m, .*in the way", all[1][1])

		srv.Session(c.SessionID()).Expire()
		time.Sleep(time.Minute)
		require.Contains(t, cells(one(t, p), "registrations", 2)[0][1], "registered for ", "again")
		var told []string
		for _, e := range cells(one(t, p), "events", 4) {
			if e[1] == "registration" && e[2] == "/w/1" {
				told = append(told, e[3])
			}
		}
		require.Len(t, told, 3, "the newest first")
		require.Equal(t, "registered", told[0])
		require.Contains(t, told[1], "lost")
		require.Equal(t, "registered", told[2])
	})
}

func TestCaches(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, host *zktest.Host, p *page, c *framework.Client) {
		require.NoError(t, srv.Create("/stock", nil))
		require.NoError(t, srv.Create("/stock/a", nil))
		stock, err := cache.New(c, "/stock")
		require.NoError(t, err)
		require.NoError(t, stock.WaitSynced(t.Context()))
		synctest.Wait()
		require.Equal(t, [][]string{{"/stock", "up to date", "2 nodes"}}, cells(one(t, p), "caches", 3))

		heal := outage(host)
		time.Sleep(3 * time.Second)
		require.Equal(t, "behind for 3s", cells(one(t, p), "caches", 2)[0][1])
		heal()
		time.Sleep(time.Minute)
		now := cells(one(t, p), "caches", 5)[0]
		require.Equal(t, "up to date", now[1])
		require.Equal(t, "1", now[4])

		require.NoError(t, stock.Close())
		require.Empty(t, cells(one(t, p), "caches", 1))
		names, texts := events(one(t, p))
		require.Equal(t, []string{"cache"}, names)
		require.Equal(t, []string{"ended"}, texts)
	})
}

// endedCache returns a cache of /rates that has ended by itself.
func endedCache(t *testing.T, srv *zktest.Server, c *framework.Client) *cache.Cache {
	t.Helper()
	srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Path: "/rates", Times: -1, Do: zktest.Fail(zkinside.ErrUnimplemented)})
	rates, err := cache.New(c, "/rates")
	require.NoError(t, err)
	<-rates.Done()
	return rates
}

// What an operator looks for is what does not work any more.
func TestCacheThatHasEndedByItselfIsAnEvent(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, _ *zktest.Host, p *page, c *framework.Client) {
		rates := endedCache(t, srv, c)
		require.NoError(t, rates.Close())
		require.Empty(t, cells(one(t, p), "caches", 1))
		_, texts := events(one(t, p))
		require.Len(t, texts, 1)
		require.Regexp(t, "^ended: cache of .*unimplemented", texts[0])
	})
}

func register(t *testing.T, c *framework.Client, id string) *discovery.Registration {
	t.Helper()
	r, err := discovery.NewRegistration(c, "/services", discovery.CuratorCodec(), discovery.Instance{
		Service: "mail", ID: id, Address: "10.0.0.7", Port: 25,
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		r.Shutdown(over)
	})
	return r
}

func TestInstances(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, host *zktest.Host, p *page, c *framework.Client) {
		other := curatortest.Connect(t, srv)
		register(t, other, "b")
		synctest.Wait()
		register(t, c, "a")
		register(t, c, "b")
		require.NoError(t, register(t, c, "c").Drain(t.Context()))
		time.Sleep(time.Minute)
		all := cells(one(t, p), "registrations", 2)
		require.Len(t, all, 3)
		require.Equal(t, []string{"/services/mail/a", "registered for 1m"}, all[0])
		require.Contains(t, all[1][1], "in the way: /services/mail/b")
		require.Equal(t, []string{"instance", "/services/mail/c", "drains"}, instanceEvent(one(t, p)))

		heal := outage(host)
		time.Sleep(time.Minute)
		require.Contains(t, cells(one(t, p), "registrations", 2)[0][1], "NOT registered")
		heal()
		require.NoError(t, c.WaitConnected(t.Context()))
		synctest.Wait()
		require.Contains(t, cells(one(t, p), "registrations", 2)[0][1], "registered for ")
	})
}

// instanceEvent returns the newest event of an instance.
func instanceEvent(c client) []string {
	for _, e := range cells(c, "events", 4) {
		if e[1] == "instance" {
			return e[1:]
		}
	}
	return nil
}

// A directory says what it has, and what is wrong.
func TestDirectoriesSayWhatTheyHave(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, host *zktest.Host, p *page, c *framework.Client) {
		other := curatortest.Connect(t, srv)
		register(t, other, "a")
		require.NoError(t, register(t, other, "b").Drain(t.Context()))
		require.NoError(t, srv.Create("/services/mail/bad", []byte("garbage")))
		d, err := discovery.NewServices(c, "/services", discovery.CuratorCodec())
		require.NoError(t, err)
		require.NoError(t, d.WaitInstances(t.Context(), 1))
		now := cells(one(t, p), "directories", 5)[0]
		require.Equal(t, []string{"/services", "up to date"}, now[:2])
		require.Equal(t, []string{"mail 2", "1, such as /services/mail/bad: no JSON object: garbage"}, now[3:])
		heal := outage(host)
		time.Sleep(time.Second)
		require.Contains(t, cells(one(t, p), "directories", 2)[0][1], "INTERRUPTED")
		heal()
		require.NoError(t, c.WaitConnected(t.Context()))
		require.NoError(t, d.Close())
		require.Empty(t, cells(one(t, p), "directories", 1))
	})
}

// Paths are the server's, and views of a client are one client.
func TestViewsAreOneClient(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *zktest.Server, _ *zktest.Host, p *page, c *framework.Client) {
		view, err := c.Namespace("/shop")
		require.NoError(t, err)
		lease, err := locks.NewInterProcessMutex(view, "/lock").Acquire(t.Context())
		require.NoError(t, err)
		shown := one(t, p)
		require.Equal(t, "/shop/lock", cells(shown, "holds", 1)[0][0])
		require.Equal(t, "orders", shown.Name)
		require.NoError(t, lease.Release(t.Context()))
	})
}

// Pages may be made while everything happens at the same time. This is for the
// race detector.
func TestPagesDuringACrowd(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, _ *zktest.Host, p *page, c *framework.Client) {
		semaphore := locks.NewInterProcessSemaphore(c, "/sem", locks.Limit(2))
		rw := locks.NewInterProcessReadWriteLock(c, "/rw")
		for i := range 20 {
			go func() {
				for range 20 {
					semaphore.Do(t.Context(), func(context.Context) error { return nil })
					rw.ReadLock().Do(t.Context(), func(context.Context) error { return nil })
					if i%5 == 0 {
						rw.WriteLock().Do(t.Context(), func(context.Context) error { return nil })
					}
				}
			}()
		}
		for i := range 200 {
			if i == 100 {
				srv.Session(c.SessionID()).Expire()
			}
			for _, h := range cells(one(t, p), "holds", 6) {
				require.NotEmpty(t, h[5])
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Empty(t, cells(one(t, p), "holds", 1))
		require.Empty(t, cells(one(t, p), "waits", 1))
	})
}

// collect runs the garbage collector until a condition holds, but not for ever.
func collect(t *testing.T, until func() bool) {
	t.Helper()
	for range 100 {
		runtime.GC()
		time.Sleep(time.Second) // of virtual time, for what runs in the background
		if until() {
			return
		}
	}
	t.Fatal("nothing is collected")
}

// drop acquires a lock, and keeps nothing of the lease.
func drop(t *testing.T, lock locks.Locker) weak.Pointer[locks.Lease] {
	t.Helper()
	lease, err := lock.Acquire(t.Context())
	require.NoError(t, err)
	return weak.Make(lease)
}

// The record of a lock that is held does not keep its lease.
func TestTheRecordKeepsNoLease(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *zktest.Server, _ *zktest.Host, p *page, c *framework.Client) {
		lease := drop(t, locks.NewInterProcessMutex(c, "/lock"))
		collect(t, func() bool { return lease.Value() == nil })
		require.Len(t, cells(one(t, p), "holds", 1), 1)
	})
}

// The record does not keep a cache that has ended.
func TestTheRecordKeepsNoCacheThatHasEnded(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, _ *zktest.Host, p *page, c *framework.Client) {
		ended := func() weak.Pointer[cache.Cache] { return weak.Make(endedCache(t, srv, c)) }()
		collect(t, func() bool { return ended.Value() == nil })
		require.NotEmpty(t, cells(one(t, p), "events", 1))
	})
}
