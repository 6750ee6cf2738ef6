package gocron_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/testing/zktest"

	cron "github.com/gocurator/curator/contrib/gocron"
)

// candidate starts a process that stands for leader.
func candidate(t *testing.T, srv *zktest.Server) (*process, *cron.Elector) {
	t.Helper()
	p := connect(t, srv)
	latch, err := leader.NewLatch(p.client, "/cron")
	require.NoError(t, err)
	t.Cleanup(func() { latch.Shutdown(bounded(t)) })
	synctest.Wait()
	return p, cron.NewElector(latch)
}

// The measurement of README.
func TestLeaderThatIsCutOffDoesNotLeadBesideTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		a, electorA := candidate(t, srv)
		_, electorB := candidate(t, srv)
		leads := func(e *cron.Elector) bool { return e.IsLeader(t.Context()) == nil }
		require.True(t, leads(electorA))
		require.ErrorIs(t, electorB.IsLeader(t.Context()), cron.ErrNotLeader)
		a.host.Isolate()
		var both, next time.Duration
		const step = 10 * time.Millisecond
		for at := time.Duration(0); at < 30*time.Second; at += step {
			time.Sleep(step)
			synctest.Wait()
			if next == 0 && leads(electorB) {
				next = at
			}
			if leads(electorA) && leads(electorB) {
				both += step
			}
		}
		t.Logf("the next one leads after %v, and both lead for %v", next, both)
		require.NotZero(t, next)
		require.Zero(t, both)
		require.False(t, leads(electorA))
		a.host.Heal()
		time.Sleep(time.Minute)
		require.False(t, leads(electorA))
		require.True(t, leads(electorB))
	})
}

func TestJobsRunWhereTheLeaderIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		var done [3]counter
		for i := range done {
			p, e := candidate(t, srv)
			var err error
			p.scheduler, err = gocron.NewScheduler(gocron.WithDistributedElector(e))
			require.NoError(t, err)
			p.scheduler.Start()
			t.Cleanup(func() { require.NoError(t, p.scheduler.Shutdown()) })
			p.add(t, "job", e.UnderLeadership(func(context.Context) error { done[i].add(); return nil }))
		}
		time.Sleep(10*time.Minute + 30*time.Second)
		require.Equal(t, []int{10, 0, 0}, []int{done[0].now(), done[1].now(), done[2].now()})
	})
}

func TestWorkStopsWithTheLeadership(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		p, e := candidate(t, srv)
		began := make(chan struct{})
		cause := make(chan error, 1)
		go func() {
			_ = e.UnderLeadership(func(ctx context.Context) error {
				close(began)
				<-ctx.Done()
				cause <- context.Cause(ctx)
				return nil
			})(bounded(t))
		}()
		<-began
		p.host.Isolate()
		require.ErrorIs(t, <-cause, framework.ErrSessionLost)
		require.ErrorIs(t, e.UnderLeadership(nil)(bounded(t)), cron.ErrNotLeader)
		p.host.Heal()
	})
}
