package curatorz

import (
	"context"
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/flight"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// inVirtualTime runs a test with a server and a client that has its own host.
func inVirtualTime(t *testing.T, test func(t *testing.T, srv *zktest.Server, host *zktest.Host, c *framework.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		host := srv.NewHost()
		c := recorded(t, srv, framework.WithDialer(host.Dialer()), framework.WithSessionTimeout(10*time.Second),
			framework.WithServiceName("orders"))
		test(t, srv, host, c)
	})
}

// recorded returns a client whose page is in use before it does anything.
func recorded(t *testing.T, srv *zktest.Server, opts ...framework.Option) *framework.Client {
	t.Helper()
	c := curatortest.Connect(t, srv, opts...)
	Handler(c)
	return c
}

// one returns what is shown of a client.
func one(t *testing.T, c *framework.Client) client {
	t.Helper()
	all := pageOf(momentOf(subjectsOf([]*framework.Client{c})), query{All: true}).Clients
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
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, _ *zktest.Host, a *framework.Client) {
		b := recorded(t, srv, framework.WithServiceName("bills"))
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
		require.Equal(t, [][]string{{"/lock", `mutex "stock"`, "5s"}}, cells(one(t, a), "holds", 3))
		require.Equal(t, [][]string{
			{"/lock", "mutex", "2s", "waits at the server, 1 ahead, as seen 2s ago"},
			{"/lock", "mutex", "2s", "waits for others of this client, 2 ahead, as seen 2s ago"},
			{"/lock", "mutex", "2s", "waits for others of this client, 3 ahead, as seen 2s ago"},
		}, cells(one(t, b), "waits", 4))
		first := cells(one(t, b), "waits", 6)[0]
		require.Regexp(t, `^orders@\S+ \(lock-0000000000\) queued 5s ago$`, first[4])
		require.Equal(t, "the holder", first[5])

		require.NoError(t, lease.Release(t.Context()))
		time.Sleep(1500 * time.Millisecond) // the second of b's goroutines has it
		names, _ := events(one(t, a))
		require.Equal(t, []string{"acquired", "released"}, names)
		require.Contains(t, cells(one(t, b), "holds", 4)[0][3], "1 of this client waiting, acquired in 3s")
		waits := cells(one(t, b), "waits", 6)
		require.Len(t, waits, 1)
		require.Contains(t, waits[0][4]+waits[0][5], "this client", "it waits for a goroutine of its own client")

		time.Sleep(time.Minute)
		for _, c := range []*framework.Client{a, b} {
			require.Empty(t, cells(one(t, c), "holds", 1))
			require.Empty(t, cells(one(t, c), "waits", 1))
		}
	})
}

// Time is counted as the client counts it: from the last contact, less the
// margin. An outage shows up as what it is.
func TestTheSessionsTimeRunsOut(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *zktest.Server, host *zktest.Host, c *framework.Client) {
		time.Sleep(time.Hour)
		require.Equal(t, "connected for 1h", one(t, c).State)
		require.Equal(t, "connected", cells(one(t, c), "servers", 2)[0][1])
		require.Regexp(t, `^[5-9](\.\d)?s of 10s$`, factOf(one(t, c), "time left without an answer"))

		heal := outage(host)
		time.Sleep(time.Second)
		require.Equal(t, "suspended for 1s", one(t, c).State)
		require.False(t, one(t, c).Good)
		require.Contains(t, cells(one(t, c), "servers", 2)[0][1], "not connected")
		require.Contains(t, factOf(one(t, c), "time left without an answer"), " of 10s")

		time.Sleep(8 * time.Second)
		require.Contains(t, one(t, c).State, "lost for ")
		require.NotEmpty(t, factOf(one(t, c), "no connection"))
		require.NotEmpty(t, cells(one(t, c), "servers", 5)[0][4])
		last := cells(one(t, c), "events", 4)[0]
		require.Equal(t, "state", last[1])
		require.Regexp(t, "^lost: .*no answer within its time", last[3])

		heal()
		require.NoError(t, c.WaitConnected(t.Context()))
		require.Contains(t, one(t, c).State, "reconnected for ")
		require.Empty(t, factOf(one(t, c), "no connection"))
		require.Empty(t, cells(one(t, c), "servers", 5)[0][4])
	})
}

// Promise: A client records nothing until its debug page is used.
func TestNothingIsRecordedBeforeThePageIsUsed(t *testing.T) {
	for name, use := range map[string]func(c *framework.Client) error{
		"Handler":   func(c *framework.Client) error { Handler(c); return nil },
		"WriteText": func(c *framework.Client) error { return WriteText(io.Discard, c) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := zktest.Start(t)
				require.NoError(t, srv.Create("/stock", nil))
				c := curatortest.Connect(t, srv)
				view, err := c.Namespace("/shop")
				require.NoError(t, err)
				early, err := locks.NewInterProcessMutex(c, "/early").Acquire(t.Context())
				require.NoError(t, err)
				stock, err := cache.New(c, "/stock")
				require.NoError(t, err)
				defer stock.Close()
				time.Sleep(time.Minute)
				require.Nil(t, insider.Of(c).Recorder())

				begin := time.Now()
				require.NoError(t, use(view))
				time.Sleep(time.Minute)
				late, err := locks.NewInterProcessMutex(c, "/late").Acquire(t.Context())
				require.NoError(t, err)
				require.Contains(t, cells(one(t, c), "watches", 1), []string{early.Path()}, "the holder's own node")
				require.NoError(t, early.Release(t.Context()))
				shown := one(t, c)
				require.True(t, shown.Good)
				require.Contains(t, factOf(shown, "recorded since"), clock(begin, begin))
				require.Equal(t, [][]string{{"/late"}}, cells(shown, "holds", 1))
				require.Empty(t, cells(shown, "caches", 1))
				names, _ := events(shown)
				require.Equal(t, []string{"acquired"}, names)
				require.NoError(t, late.Release(t.Context()))
			})
		})
	}
}

// Pages that are mounted at the same time show one record.
func TestAClientHasOneRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := curatortest.Connect(t, zktest.Start(t))
		const n = 10
		recorders := make(chan *flight.Recorder, n)
		for range n {
			go func() { recorders <- subjectsOf([]*framework.Client{c})[0].recorder }()
		}
		for range n {
			one := <-recorders
			require.Same(t, insider.Of(c).Recorder(), one)
		}
	})
}

func TestRegistrations(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, _ *zktest.Host, c *framework.Client) {
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
		all := cells(one(t, c), "registrations", 3)
		require.Len(t, all, 2)
		require.Equal(t, []string{"/w/1", "registered for 1m"}, all[0][:2])
		require.Contains(t, all[0][2], "/w/1, czxid 0x")
		require.Equal(t, "/w/2", all[1][0])
		require.Regexp(t, "^NOT registered for 1m, .*in the way", all[1][1])

		srv.Session(c.SessionID()).Expire()
		time.Sleep(time.Minute)
		require.Contains(t, cells(one(t, c), "registrations", 2)[0][1], "registered for ", "again")
		var told []string
		for _, e := range cells(one(t, c), "events", 4) {
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

// In an outage, the node of a registration that was closed may still exist.
func TestTheNodeOfARegistrationMayOutliveIt(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, host *zktest.Host, c *framework.Client) {
		n, err := nodes.NewPersistentNode(c, "/a", nil)
		require.NoError(t, err)
		_, err = n.WaitRegistered(t.Context())
		require.NoError(t, err)
		heal := outage(host)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, n.Shutdown(ctx), context.DeadlineExceeded)
		left := cells(one(t, c), "registrations", 3)[0]
		require.Contains(t, left[1], "ended, the node is not deleted yet and may exist")
		require.Contains(t, left[2], "/a, czxid")
		require.True(t, exists(srv, "/a"))

		heal()
		require.NoError(t, n.Shutdown(t.Context()))
		require.False(t, exists(srv, "/a"))
		require.Empty(t, cells(one(t, c), "registrations", 1))
	})
}

func TestCaches(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, host *zktest.Host, c *framework.Client) {
		require.NoError(t, srv.Create("/stock", nil))
		require.NoError(t, srv.Create("/stock/a", nil))
		stock, err := cache.New(c, "/stock")
		require.NoError(t, err)
		require.NoError(t, stock.WaitSynced(t.Context()))
		synctest.Wait()
		require.Equal(t, [][]string{{"/stock", "up to date", "2 nodes"}}, cells(one(t, c), "caches", 3))

		heal := outage(host)
		time.Sleep(3 * time.Second)
		require.Equal(t, "behind for 3s", cells(one(t, c), "caches", 2)[0][1])
		heal()
		time.Sleep(time.Minute)
		now := cells(one(t, c), "caches", 5)[0]
		require.Equal(t, "up to date", now[1])
		require.Equal(t, "1", now[4])

		require.NoError(t, stock.Close())
		require.Empty(t, cells(one(t, c), "caches", 1))
		names, texts := events(one(t, c))
		require.Equal(t, []string{"cache", "cache", "cache", "cache"}, names)
		require.Contains(t, texts[0], "filled after")
		require.Contains(t, texts[1], "interrupted")
		require.Contains(t, texts[2], "up to date again after")
		require.Equal(t, "ended", texts[3])
	})
}

// endedCache returns a cache of /rates that has ended by itself.
func endedCache(t *testing.T, srv *zktest.Server, c *framework.Client) *cache.Cache {
	t.Helper()
	srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Path: "/rates", Times: -1, Do: zktest.Fail(zktest.ErrUnimplemented)})
	rates, err := cache.New(c, "/rates")
	require.NoError(t, err)
	<-rates.Done()
	return rates
}

// What an operator looks for is what does not work any more.
func TestCachesThatHaveEndedByThemselvesAreKept(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, _ *zktest.Host, c *framework.Client) {
		require.NoError(t, srv.Create("/a", nil))
		healthy, err := cache.New(c, "/a")
		require.NoError(t, err)
		rates := endedCache(t, srv, c)
		time.Sleep(time.Minute)
		all := cells(one(t, c), "caches", 2)
		require.Len(t, all, 2)
		require.Equal(t, "/rates", all[0][0], "what has ended is first")
		require.NoError(t, healthy.Close())
		require.Regexp(t, "^ENDED 1m ago: cache of .*unimplemented", all[0][1])
		require.NoError(t, rates.Close())
		require.Len(t, cells(one(t, c), "caches", 1), 1, "a Close that comes later cures nothing")
		require.NoError(t, c.Close())
		require.Empty(t, cells(one(t, c), "caches", 1))
		require.Equal(t, "closed", one(t, c).State)
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

// A registration says of which instance of a service it is.
func TestInstancesSayWhatTheyDo(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, host *zktest.Host, c *framework.Client) {
		other := curatortest.Connect(t, srv)
		register(t, other, "b")
		synctest.Wait()
		register(t, c, "a")
		register(t, c, "b")
		require.NoError(t, register(t, c, "c").Drain(t.Context()))
		time.Sleep(time.Minute)
		all := cells(one(t, c), "registrations", 4)
		require.Len(t, all, 3)
		require.Equal(t, []string{"registered for 1m", "mail a at 10.0.0.7:25"}, []string{all[0][1], all[0][3]})
		require.Contains(t, all[1][1], "in the way: /services/mail/b")
		require.Equal(t, "mail c at 10.0.0.7:25, drains", all[2][3])

		heal := outage(host)
		time.Sleep(time.Minute)
		require.Contains(t, cells(one(t, c), "registrations", 2)[0][1], "NOT registered")
		heal()
		require.NoError(t, c.WaitConnected(t.Context()))
		synctest.Wait()
		require.Contains(t, cells(one(t, c), "registrations", 2)[0][1], "registered for ")
	})
}

// A directory says what it has, and what is wrong.
func TestDirectoriesSayWhatTheyHave(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, host *zktest.Host, c *framework.Client) {
		other := curatortest.Connect(t, srv)
		register(t, other, "a")
		require.NoError(t, register(t, other, "b").Drain(t.Context()))
		require.NoError(t, srv.Create("/services/mail/bad", []byte("garbage")))
		d, err := discovery.NewServices(c, "/services", discovery.CuratorCodec())
		require.NoError(t, err)
		require.NoError(t, d.WaitInstances(t.Context(), 1))
		now := cells(one(t, c), "directories", 5)[0]
		require.Equal(t, []string{"/services", "up to date"}, now[:2])
		require.Equal(t, []string{"mail 2, 1 drained", "/services/mail/bad: no JSON object: garbage"}, now[3:])
		heal := outage(host)
		time.Sleep(time.Second)
		require.Contains(t, cells(one(t, c), "directories", 2)[0][1], "INTERRUPTED")
		heal()
		require.NoError(t, c.WaitConnected(t.Context()))
		require.NoError(t, d.Close())
		require.Empty(t, cells(one(t, c), "directories", 1))
	})
}

// Paths are the server's, and views of a client are one client.
func TestViewsAreOneClient(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *zktest.Server, _ *zktest.Host, c *framework.Client) {
		view, err := c.Namespace("/shop")
		require.NoError(t, err)
		lease, err := locks.NewInterProcessMutex(view, "/lock").Acquire(t.Context())
		require.NoError(t, err)
		all := pageOf(momentOf(subjectsOf([]*framework.Client{view, nil, c})), query{}).Clients
		require.Len(t, all, 1)
		require.Equal(t, "/shop/lock", cells(all[0], "holds", 1)[0][0])
		require.Equal(t, "orders", all[0].Name)
		require.NoError(t, lease.Release(t.Context()))
	})
}

// Pages may be made while everything happens at the same time. This is for the
// race detector.
func TestPagesDuringACrowd(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, _ *zktest.Host, c *framework.Client) {
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
			for _, h := range cells(one(t, c), "holds", 6) {
				require.NotEmpty(t, h[5])
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Empty(t, cells(one(t, c), "holds", 1))
		require.Empty(t, cells(one(t, c), "waits", 1))
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
	inVirtualTime(t, func(t *testing.T, _ *zktest.Server, _ *zktest.Host, c *framework.Client) {
		lease := drop(t, locks.NewInterProcessMutex(c, "/lock"))
		collect(t, func() bool { return lease.Value() == nil })
		require.Len(t, cells(one(t, c), "holds", 1), 1)
	})
}

// A cache that has ended by itself is shown, and takes no memory for its nodes.
func TestTheRecordKeepsNoCacheThatHasEnded(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, _ *zktest.Host, c *framework.Client) {
		ended := func() weak.Pointer[cache.Cache] { return weak.Make(endedCache(t, srv, c)) }()
		collect(t, func() bool { return ended.Value() == nil })
		require.Equal(t, "/rates", cells(one(t, c), "caches", 1)[0][0])
	})
}
