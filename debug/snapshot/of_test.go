package snapshot_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/debug/snapshot"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// inVirtualTime runs a test with a server and a client on a host of its own.
func inVirtualTime(t *testing.T, test func(t *testing.T, srv *zktest.Server, host *zktest.Host, c *framework.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		host := srv.NewHost()
		c := curatortest.Connect(t, srv, framework.WithDialer(host.Dialer()), framework.WithSessionTimeout(10*time.Second),
			framework.WithServiceName("orders"))
		test(t, srv, host, c)
	})
}

// one returns the snapshot of one client.
func one(t *testing.T, c *framework.Client) snapshot.Client {
	t.Helper()
	s := snapshot.Of(c)
	require.Equal(t, snapshot.Version, s.Version)
	require.Len(t, s.Clients, 1)
	return s.Clients[0]
}

// kinds returns the kinds of the events, without those of the connection.
func kinds(c snapshot.Client) (all []string) {
	for _, e := range c.Events {
		if e.Kind != "client" && e.Kind != "state" {
			all = append(all, e.Kind)
		}
	}
	return all
}

// Two clients want a lock; one of them has two goroutines that do.
func TestWhoHoldsAndWhoWaitsForWhom(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, _ *zktest.Host, a *framework.Client) {
		b := curatortest.Connect(t, srv, framework.WithServiceName("bills"))
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

		now := time.Now()
		hold := one(t, a).Holds.Items[0]
		require.Equal(t, "/lock", hold.Path)
		require.Equal(t, "mutex", hold.Recipe)
		require.Equal(t, "stock", hold.Name)
		require.Equal(t, lease.FencingToken(), hold.Token)
		require.Equal(t, 5*time.Second, now.Sub(hold.Since))
		require.Empty(t, hold.Lost)
		require.False(t, hold.Releasing)

		waits := one(t, b).Waits
		require.Equal(t, 3, waits.Total)
		for i, stage := range []string{"waiting", "waiting", "in process"} {
			w := waits.Items[i]
			require.Equal(t, stage, w.Stage)
			require.Equal(t, min(i+1, 2), w.Ahead)
			require.Equal(t, 2*time.Second, now.Sub(w.Since))
			require.Equal(t, 2*time.Second, now.Sub(w.Seen))
			require.Equal(t, hold.Node, w.Holder.Node)
			require.Contains(t, w.Holder.ID, "orders@")
			require.False(t, w.Holder.Local)
		}
		require.Equal(t, hold.Node, waits.Items[0].Next.Node)

		require.NoError(t, lease.Release(t.Context()))
		time.Sleep(1500 * time.Millisecond) // the second of b's goroutines has it
		require.Equal(t, []string{"acquired", "released"}, kinds(one(t, a)))
		hold = one(t, b).Holds.Items[0]
		require.Equal(t, snapshot.Seconds(3*time.Second), hold.Waited)
		waits = one(t, b).Waits
		require.Equal(t, 1, waits.Total)
		require.Equal(t, "waiting", waits.Items[0].Stage)
		// The third looked when the first left, before or after its node was gone.
		if third := waits.Items[0]; third.Ahead != 1 {
			require.Equal(t, 2, third.Ahead)
			require.NotEqual(t, hold.Node, third.Holder.Node)
		} else {
			require.Equal(t, hold.Node, third.Holder.Node)
		}
		require.Equal(t, hold.Node, waits.Items[0].Next.Node)
		require.True(t, waits.Items[0].Next.Local, "it waits for a goroutine of its own client")

		time.Sleep(time.Minute)
		for _, c := range []*framework.Client{a, b} {
			require.Zero(t, one(t, c).Holds.Total)
			require.Zero(t, one(t, c).Waits.Total)
		}
	})
}

// Time is counted as the client counts it: from the last contact, less the
// margin. An outage shows up as what it is.
func TestTheSessionsTimeRunsOut(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *zktest.Server, host *zktest.Host, c *framework.Client) {
		time.Sleep(time.Hour)
		s := one(t, c)
		require.Equal(t, "connected", s.State.Name)
		require.True(t, s.Servers[0].Connected)
		require.Equal(t, 1, s.Servers[0].Attempts)
		require.Equal(t, uint64(1), s.Session.Epoch)
		require.Equal(t, snapshot.Seconds(10*time.Second), s.Session.Timeout)
		contact := s.Session.LastContact
		left := 9*time.Second - time.Since(contact)
		require.Equal(t, snapshot.Seconds(left), s.Session.Left)

		host.Isolate()
		host.Disconnect()
		synctest.Wait()
		time.Sleep(time.Second)
		s = one(t, c)
		require.Equal(t, "suspended", s.State.Name)
		require.False(t, s.Servers[0].Connected)
		require.Equal(t, snapshot.Seconds(9*time.Second-time.Since(s.Session.LastContact)), s.Session.Left)
		require.Empty(t, s.Session.Ended)

		time.Sleep(8 * time.Second)
		s = one(t, c)
		require.Equal(t, "lost", s.State.Name)
		require.NotEmpty(t, s.State.Cause)
		require.Positive(t, s.Servers[0].Failures)
		require.NotEmpty(t, s.Servers[0].Error)
		last := s.Events[len(s.Events)-1]
		require.Equal(t, "state", last.Kind)
		require.Equal(t, "lost", last.Name)
		require.Contains(t, last.Cause, "no answer within its time")
		require.True(t, last.Trouble)

		host.Heal()
		require.NoError(t, c.WaitConnected(t.Context()))
		s = one(t, c)
		require.Equal(t, "reconnected", s.State.Name)
		require.Empty(t, s.State.Cause)
		require.Equal(t, uint64(2), s.Session.Epoch)
		require.Empty(t, s.Servers[0].Error)
	})
}

func TestWithoutARecordThereIsStillTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c := curatortest.Connect(t, srv, framework.WithRecentEvents(0))
		lease, err := locks.NewInterProcessMutex(c, "/lock").Acquire(t.Context())
		require.NoError(t, err)
		time.Sleep(2 * time.Second)
		s := one(t, c)
		require.False(t, s.Recorded)
		require.Zero(t, s.Holds.Total)
		require.Empty(t, s.Events)
		require.Equal(t, "connected", s.State.Name)
		require.Equal(t, lease.Path(), s.Watches.Items[0].Path, "the holder's own node")
		require.NoError(t, lease.Release(t.Context()))
	})
	_, err := framework.New("127.0.0.1:1", framework.WithRecentEvents(-1))
	var bad *framework.ConfigError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, "recent events", bad.Name)
	_, err = framework.New("127.0.0.1:1", framework.WithRecentEvents(1<<16+1))
	require.ErrorAs(t, err, &bad)
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
		s := one(t, c)
		require.Equal(t, 2, s.Registrations.Total)
		first, second := s.Registrations.Items[0], s.Registrations.Items[1]
		require.Equal(t, "/w/1", first.Node)
		require.True(t, first.Registered)
		require.Positive(t, first.Czxid)
		require.Equal(t, time.Minute, time.Since(first.Since))
		require.False(t, second.Registered)
		require.Contains(t, second.Trouble, "in the way")
		require.Len(t, kinds(s), 2)

		srv.Session(c.SessionID()).Expire()
		time.Sleep(time.Minute)
		s = one(t, c)
		require.True(t, s.Registrations.Items[0].Registered, "again")
		var told []string
		for _, e := range s.Events {
			if e.Kind == "registration" && e.Path == "/w/1" {
				told = append(told, e.Text)
			}
		}
		require.Equal(t, []string{"registered", "lost", "registered"}, told)
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
		got := one(t, c).Caches.Items[0]
		require.Equal(t, snapshot.Cache{Root: "/stock", Synced: true, Nodes: 2, Zxid: stock.Zxid()}, got)

		host.Isolate()
		host.Disconnect()
		synctest.Wait()
		time.Sleep(3 * time.Second)
		got = one(t, c).Caches.Items[0]
		require.Equal(t, snapshot.Seconds(3*time.Second), got.Lag)
		host.Heal()
		time.Sleep(time.Minute)
		got = one(t, c).Caches.Items[0]
		require.Zero(t, got.Lag)
		require.EqualValues(t, 1, got.Resyncs)

		require.NoError(t, stock.Close())
		s := one(t, c)
		require.Zero(t, s.Caches.Total)
		var texts []string
		for _, e := range s.Events {
			if e.Kind == "cache" {
				texts = append(texts, e.Text)
			}
		}
		require.Len(t, texts, 4, texts)
		require.Contains(t, texts[0], "filled after")
		require.Equal(t, "interrupted", texts[1])
		require.Contains(t, texts[2], "up to date again after")
		require.Equal(t, "ended", texts[3])
	})
}

// Paths are those of the server, and views of a client are one client.
func TestViewsAreOneClient(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *zktest.Server, _ *zktest.Host, c *framework.Client) {
		view, err := c.Namespace("/shop")
		require.NoError(t, err)
		lease, err := locks.NewInterProcessMutex(view, "/lock").Acquire(t.Context())
		require.NoError(t, err)
		s := snapshot.Of(view, nil, c)
		require.Len(t, s.Clients, 1)
		require.Equal(t, "/shop/lock", s.Clients[0].Holds.Items[0].Path)
		require.Equal(t, "orders", s.Clients[0].Service)
		require.NoError(t, lease.Release(t.Context()))
	})
}

// A process with more locks than anybody reads has a page all the same.
func TestLongListsAreCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c := curatortest.Connect(t, srv)
		lock := locks.NewInterProcessMutex(c, "/lock")
		lease, err := lock.Acquire(t.Context())
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		for range snapshot.MaxItems + 10 {
			go lock.Acquire(ctx)
		}
		synctest.Wait()
		waits := one(t, c).Waits
		require.Equal(t, snapshot.MaxItems+10, waits.Total)
		require.Len(t, waits.Items, snapshot.MaxItems)
		cancel()
		synctest.Wait()
		require.Zero(t, one(t, c).Waits.Total)
		require.NoError(t, lease.Release(t.Context()))
	})
}

// Snapshots may be taken while everything happens at the same time. This is for
// the race detector.
func TestSnapshotsDuringACrowd(t *testing.T) {
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
			s := one(t, c)
			for _, h := range s.Holds.Items {
				require.NotEmpty(t, h.Node)
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		s := one(t, c)
		require.Zero(t, s.Holds.Total+s.Waits.Total)
	})
}

// A filter finds what is beyond the lists' length, in all that has a path.
func TestMatchingFindsOneLockAmongMany(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, _ *zktest.Host, c *framework.Client) {
		for i := range snapshot.MaxItems + 5 {
			_, err := locks.NewInterProcessMutex(c, fmt.Sprintf("/locks/%d", i)).Acquire(t.Context())
			require.NoError(t, err)
		}
		wanted := fmt.Sprintf("/locks/%d", snapshot.MaxItems+3)
		ctx, cancel := context.WithCancel(t.Context())
		for range 2 {
			go locks.NewInterProcessMutex(c, wanted).Acquire(ctx)
		}
		tree, err := cache.New(c, "/other")
		require.NoError(t, err)
		defer tree.Close()
		synctest.Wait()

		all := one(t, c)
		require.Equal(t, snapshot.MaxItems+5, all.Holds.Total)
		s := snapshot.Matching(wanted, c)
		require.Equal(t, wanted, s.Filter)
		found := s.Clients[0]
		require.Equal(t, 1, found.Holds.Total)
		require.Equal(t, wanted, found.Holds.Items[0].Path)
		require.Equal(t, 2, found.Holds.Items[0].Waiting)
		require.Equal(t, 2, found.Waits.Total)
		require.True(t, found.Waits.Items[0].Holder.Local)
		require.Zero(t, found.Caches.Total)
		require.Equal(t, 1, all.Caches.Total)
		for _, e := range found.Events {
			if e.Path != "" {
				require.Equal(t, wanted, e.Path)
			}
		}
		require.Less(t, found.Watches.Total, all.Watches.Total)
		var text bytes.Buffer
		require.NoError(t, s.WriteText(&text))
		require.Contains(t, text.String(), `only what has "`+wanted+`" in its path`)
		cancel()
		synctest.Wait()
	})
}
