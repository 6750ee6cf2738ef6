package curatorz

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// However an acquire and a hold end, the page says so, and nothing is left.
//
// Promise: The debug page forgets a hold that has ended.
func TestEveryEndIsAnEventAndLeavesNothing(t *testing.T) {
	type scene struct {
		t    *testing.T
		p    *page
		srv  *zktest.Server
		c    *framework.Client
		lock *locks.InterProcessMutex
	}
	held := func(s scene) *locks.Lease {
		lease, err := s.lock.Acquire(s.t.Context())
		require.NoError(s.t, err)
		return lease
	}
	byOther := func(s scene) {
		other := curatortest.Connect(s.t, s.srv)
		_, err := locks.NewInterProcessMutex(other, "/lock").Acquire(s.t.Context())
		require.NoError(s.t, err)
	}
	for name, tt := range map[string]struct {
		do     func(s scene)
		kinds  []string
		cause  string // of the last event
		closed bool
		races  bool // the events of two goroutines may be in any order
	}{
		"released": {do: func(s scene) {
			require.NoError(s.t, held(s).Release(s.t.Context()))
		}, kinds: []string{"acquired", "released"}},
		"re-entered": {do: func(s scene) {
			first := held(s)
			second, err := s.lock.Acquire(first.Context())
			require.NoError(s.t, err)
			require.NoError(s.t, first.Release(s.t.Context()))
			require.Len(s.t, cells(one(s.t, s.p), "holds", 1), 1)
			require.NoError(s.t, second.Release(s.t.Context()))
		}, kinds: []string{"acquired", "released"}},
		"try": {do: func(s scene) {
			byOther(s)
			_, err := s.lock.TryAcquire(s.t.Context())
			require.ErrorIs(s.t, err, locks.ErrNotAcquired)
		}, kinds: []string{"not acquired"}, cause: "1 ahead, held by"},
		"timeout": {do: func(s scene) {
			byOther(s)
			ctx, cancel := context.WithTimeout(s.t.Context(), time.Second)
			defer cancel()
			_, err := s.lock.Acquire(ctx)
			require.ErrorIs(s.t, err, context.DeadlineExceeded)
		}, kinds: []string{"waiting", "not acquired"}, cause: "context deadline exceeded"},
		"refused": {do: func(s scene) {
			s.srv.Inject(zktest.Rule{Op: zktest.OpCreate, Times: -1, Do: zktest.Fail(zktest.ErrNoAuth)})
			_, err := s.lock.Acquire(s.t.Context())
			require.Error(s.t, err)
		}, kinds: []string{"not acquired"}, cause: "not authenticated"},
		"session lost": {do: func(s scene) {
			lease := held(s)
			s.srv.Session(s.c.SessionID()).Expire()
			<-lease.Context().Done()
			synctest.Wait()
			require.Empty(s.t, cells(one(s.t, s.p), "holds", 4))
			require.ErrorIs(s.t, lease.Release(s.t.Context()), framework.ErrSessionLost)
		}, kinds: []string{"acquired", "lost"}, cause: "session lost"},
		"node deleted": {do: func(s scene) {
			lease := held(s)
			time.Sleep(2 * time.Second)
			require.NoError(s.t, s.srv.Delete(lease.Path()))
			<-lease.Context().Done()
			synctest.Wait()
			require.ErrorIs(s.t, lease.Release(s.t.Context()), locks.ErrNodeDeleted)
		}, kinds: []string{"acquired", "lost"}, cause: "deleted by someone else"},
		"revoked": {do: func(s scene) {
			s.lock = locks.NewInterProcessMutex(s.c, "/lock", locks.WithRevocation())
			lease := held(s)
			other := curatortest.Connect(s.t, s.srv)
			require.NoError(s.t, locks.Revoke(s.t.Context(), other, lease.Path()))
			<-lease.Context().Done()
			synctest.Wait()
			require.ErrorIs(s.t, lease.Release(s.t.Context()), locks.ErrRevoked)
		}, kinds: []string{"acquired", "revoked", "lost"}, cause: "revoked"},
		"handed over": {do: func(s scene) {
			first := held(s)
			next := make(chan *locks.Lease)
			go func() { next <- held(s) }()
			synctest.Wait()
			require.NoError(s.t, first.Release(s.t.Context()))
			require.NoError(s.t, (<-next).Release(s.t.Context()))
		}, kinds: []string{"acquired", "acquired", "released", "released"}, races: true}, // the next one has waited in the process
		"client closed": {do: func(s scene) {
			lease := held(s)
			require.NoError(s.t, s.c.Close())
			synctest.Wait()
			require.ErrorIs(s.t, lease.Release(s.t.Context()), framework.ErrClosed)
		}, kinds: []string{"acquired", "lost"}, cause: "closed", closed: true},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, srv *zktest.Server, _ *zktest.Host, p *page, c *framework.Client) {
				tt.do(scene{t, p, srv, c, locks.NewInterProcessMutex(c, "/lock")})
				synctest.Wait()
				s := one(t, p)
				require.Empty(t, cells(s, "holds", 1))
				require.Empty(t, cells(s, "waits", 1))
				names, texts := events(s)
				if tt.races {
					slices.Sort(names)
				}
				require.Equal(t, tt.kinds, names)
				require.Contains(t, texts[len(texts)-1], tt.cause)
				require.Equal(t, tt.closed, s.State == "closed")
			})
		})
	}
}

// Work that goes on after the end of a leadership is an event, because the page has no
// hold of that leadership any more.
func TestWorkThatOverrunsIsAnEvent(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, _ *zktest.Host, p *page, c *framework.Client) {
		leader.NewSelector(c, "/leader").Run(t.Context(), func(ctx context.Context) error {
			srv.Session(c.SessionID()).Expire()
			<-ctx.Done()
			time.Sleep(time.Minute)
			return nil
		})
		names, _ := events(one(t, p))
		require.Equal(t, []string{"acquired", "lost", "overrun"}, names)
	})
}

// Thousands of grants leave the connection of the client in the record, and the
// record does not grow.
func TestFrequentEventsDoNotPushOutRareOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		p := newPage()
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()), framework.WithHooks(p))
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, c.WaitConnected(t.Context()))
		lock := locks.NewInterProcessMutex(c, "/lock")
		for range 500 {
			require.NoError(t, lock.Do(t.Context(), func(context.Context) error { return nil }))
		}
		all := cells(one(t, p), "events", 4)
		require.Len(t, all, size+1)
		require.Equal(t, "state", all[size][1])
		for i, e := range all[:size] {
			require.Equal(t, []string{"released", "acquired"}[i%2], e[1], "the newest first")
		}
	})
}

// refuse has the server refuse a kind of request from now on.
func refuse(srv *zktest.Server, op zktest.Op) {
	srv.Inject(zktest.Rule{Optional: true, Op: op, Times: -1, Do: zktest.Fail(zktest.ErrNoAuth)})
}

// A release does not wait for a connection. Its event says what is left.
func TestTheNodeOfALockMayOutliveTheRelease(t *testing.T) {
	for name, tt := range map[string]struct {
		trouble func(srv *zktest.Server, host *zktest.Host)
		left    string
	}{
		"none": {func(*zktest.Server, *zktest.Host) {}, "held for 0s"},
		"outage": {func(_ *zktest.Server, host *zktest.Host) {
			outage(host)
		}, "held for 0s, the node may exist until the client has deleted it, or the session ends"},
		"refusal": {func(srv *zktest.Server, _ *zktest.Host) { refuse(srv, zktest.OpDelete) },
			"held for 0s, the node stays while the session lives"},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, srv *zktest.Server, host *zktest.Host, p *page, c *framework.Client) {
				lease, err := locks.NewInterProcessMutex(c, "/lock").Acquire(t.Context())
				require.NoError(t, err)
				tt.trouble(srv, host)
				lease.Release(t.Context())
				names, texts := events(one(t, p))
				i := slices.Index(names, "released")
				require.GreaterOrEqual(t, i, 0)
				text, _, _ := strings.Cut(texts[i], ": ")
				require.Equal(t, tt.left, text)
				require.Equal(t, name != "none", exists(srv, lease.Path()))
			})
		})
	}
}
