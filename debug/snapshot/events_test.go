package snapshot_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/debug/snapshot"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// However an acquire and a hold end, the snapshot says so, and nothing is left.
//
// Promise: The flight recorder forgets a hold that has ended.
func TestEveryEndIsAnEventAndLeavesNothing(t *testing.T) {
	type scene struct {
		t    *testing.T
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
	}{
		"released": {do: func(s scene) {
			require.NoError(s.t, held(s).Release(s.t.Context()))
		}, kinds: []string{"acquired", "released"}},
		"re-entered": {do: func(s scene) {
			first := held(s)
			second, err := s.lock.Acquire(first.Context())
			require.NoError(s.t, err)
			require.NoError(s.t, first.Release(s.t.Context()))
			require.Equal(s.t, 1, one(s.t, s.c).Holds.Total)
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
			hold := one(s.t, s.c).Holds.Items[0]
			require.Contains(s.t, hold.Lost, "session lost", "it is lost, and not released yet")
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
			require.True(s.t, one(s.t, s.c).Holds.Items[0].Revoked)
			require.ErrorIs(s.t, lease.Release(s.t.Context()), locks.ErrRevoked)
		}, kinds: []string{"acquired", "revoked", "lost"}, cause: "revoked"},
		"handed over": {do: func(s scene) {
			first := held(s)
			next := make(chan *locks.Lease)
			go func() { next <- held(s) }()
			synctest.Wait()
			require.NoError(s.t, first.Release(s.t.Context()))
			require.NoError(s.t, (<-next).Release(s.t.Context()))
		}, kinds: []string{"acquired", "waiting", "released", "acquired", "released"}},
		"client closed": {do: func(s scene) {
			lease := held(s)
			require.NoError(s.t, s.c.Close())
			synctest.Wait()
			require.ErrorIs(s.t, lease.Release(s.t.Context()), framework.ErrClosed)
		}, kinds: []string{"acquired", "lost"}, cause: "closed", closed: true},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, srv *zktest.Server, _ *zktest.Host, c *framework.Client) {
				tt.do(scene{t, srv, c, locks.NewInterProcessMutex(c, "/lock")})
				synctest.Wait()
				s := one(t, c)
				require.Zero(t, s.Holds.Total+s.Waits.Total)
				require.Equal(t, tt.kinds, kinds(s))
				require.Equal(t, tt.closed, s.Closed)
				var last snapshot.Event
				for _, e := range s.Events {
					if e.Path != "" {
						last = e
					}
				}
				require.Equal(t, "/lock", last.Path)
				require.Contains(t, last.Cause, tt.cause)
			})
		})
	}
}

// Thousands of grants leave the opening of the client in the record, and the
// record does not grow.
func TestFrequentEventsDoNotPushOutRareOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c := curatortest.Connect(t, srv, framework.WithRecentEvents(20))
		lock := locks.NewInterProcessMutex(c, "/lock")
		for range 500 {
			require.NoError(t, lock.Do(t.Context(), func(context.Context) error { return nil }))
		}
		s := one(t, c)
		require.Len(t, s.Events, 2+20)
		require.Equal(t, "opened", s.Events[0].Text)
		require.Equal(t, "state", s.Events[1].Kind)
		for i, e := range s.Events[2:] {
			require.Equal(t, []string{"acquired", "released"}[i%2], e.Kind)
			require.False(t, e.Time.Before(s.Events[i+1].Time), "in order")
		}
	})
}

// A record that keeps many events shows the newest ones.
func TestEventsAreTheNewestOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c := curatortest.Connect(t, srv, framework.WithRecentEvents(5*snapshot.MaxItems))
		lock := locks.NewInterProcessMutex(c, "/lock")
		for range snapshot.MaxItems {
			require.NoError(t, lock.Do(t.Context(), func(context.Context) error { return nil }))
		}
		events := one(t, c).Events
		require.Len(t, events, snapshot.MaxItems)
		require.Equal(t, "released", events[len(events)-1].Kind)
	})
}
