package gocron_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"

	cron "github.com/gocurator/curator/contrib/gocron"
)

// locker returns the option of schedulers with a locker.
func locker(minimumHold time.Duration) func(*framework.Client) gocron.SchedulerOption {
	return func(c *framework.Client) gocron.SchedulerOption {
		return gocron.WithDistributedLocker(cron.NewLocker(c, "/cron", minimumHold))
	}
}

// runs returns how often a job of 5 ms runs in ten minutes that is due once a
// minute, on three schedulers that were started 130 ms apart.
func runs(t *testing.T, opt func(*framework.Client) gocron.SchedulerOption) int {
	var done counter
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		for range 3 {
			start(t, srv, opt).add(t, "job", func() { done.add(); time.Sleep(5 * time.Millisecond) })
			time.Sleep(130 * time.Millisecond)
		}
		time.Sleep(10*time.Minute + 30*time.Second)
	})
	return done.now()
}

// The measurement of README.
func TestShortJobRunsOnceInTheFleet(t *testing.T) {
	require.Equal(t, 10, runs(t, locker(50*time.Second)), "with a minimum hold")
}

func TestShortJobRunsOnEachSchedulerWithAPlainLock(t *testing.T) {
	require.Equal(t, 30, runs(t, locker(0)), "with a plain lock")
}

// Every minimum hold is used, or refused with an error that names it.
func TestMinimumHoldOfAnyLength(t *testing.T) {
	for _, d := range []time.Duration{math.MinInt64, -1, 0, 1, time.Hour, math.MaxInt64} {
		t.Run(d.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := zktest.Start(t)
				p, other := connect(t, srv), connect(t, srv)
				held, err := cron.NewLocker(p.client, "/cron", d).Lock(bounded(t), "job")
				if framework.IsRefusal(err) {
					require.ErrorContains(t, err, d.String())
					return
				}
				require.NoError(t, err)
				require.NoError(t, held.Unlock(bounded(t)))
				time.Sleep(time.Minute)
				_, err = cron.NewLocker(other.client, "/cron", d).Lock(bounded(t), "job")
				require.Equal(t, d > time.Minute, errors.Is(err, locks.ErrNotAcquired), "%v", err)
				require.Less(t, len(srv.Requests()), 200)
			})
		})
	}
}

// The process that has just run a job ends. The others come a moment later.
func TestShortJobRunsOnceAlthoughItsProcessEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		var done counter
		var fleet []*process
		for range 3 {
			p := start(t, srv, locker(50*time.Second))
			p.add(t, "job", done.add)
			fleet = append(fleet, p)
			time.Sleep(130 * time.Millisecond)
		}
		time.Sleep(time.Minute - 3*130*time.Millisecond + time.Millisecond)
		require.Equal(t, 1, done.now(), "the first has run the job")
		require.NoError(t, fleet[0].scheduler.StopJobs())
		require.NoError(t, fleet[0].client.Close())
		time.Sleep(time.Second)
		require.Equal(t, 1, done.now())
		time.Sleep(time.Minute)
		require.Equal(t, 2, done.now(), "the others go on")
	})
}

// A job whose lock is lost stops before another process can begin it.
func TestJobStopsWhenItsLockIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		var fleet []*process
		type run struct {
			of    int
			token int64
			begun time.Time
			ended time.Time
			cause error
		}
		ended := make(chan run, 10)
		for i := range 2 {
			p := connect(t, srv)
			l := cron.NewLocker(p.client, "/cron", 50*time.Second)
			var err error
			p.scheduler, err = gocron.NewScheduler(gocron.WithDistributedLocker(l))
			require.NoError(t, err)
			p.scheduler.Start()
			t.Cleanup(func() { require.NoError(t, p.scheduler.Shutdown()) })
			p.add(t, "job", l.UnderLock("job", func(ctx context.Context) error {
				lease, _ := locks.LeaseFromContext(ctx)
				this := run{of: i, token: lease.FencingToken(), begun: time.Now()}
				<-ctx.Done()
				this.ended, this.cause = time.Now(), context.Cause(ctx)
				ended <- this
				return nil
			}))
			fleet = append(fleet, p)
			time.Sleep(130 * time.Millisecond)
		}
		time.Sleep(70 * time.Second)
		fleet[0].host.Isolate()
		first := <-ended
		require.Zero(t, first.of)
		require.ErrorIs(t, first.cause, framework.ErrSessionLost)
		time.Sleep(2 * time.Minute)
		require.NoError(t, fleet[1].scheduler.StopJobs())
		second := <-ended
		require.Equal(t, 1, second.of)
		require.Greater(t, second.token, first.token)
		require.True(t, first.ended.Before(second.begun))
		fleet[0].host.Heal()
	})
}

// A job does not look at its context, and so goes on when its lock is lost. Its own
// process does not begin it again before that run has ended.
func TestJobIsNotRunBesideARunOfItsProcessThatGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		p := connect(t, srv)
		l := cron.NewLocker(p.client, "/cron", 50*time.Second)
		var err error
		p.scheduler, err = gocron.NewScheduler(gocron.WithDistributedLocker(l))
		require.NoError(t, err)
		p.scheduler.Start()
		t.Cleanup(func() { require.NoError(t, p.scheduler.Shutdown()) })
		var begun counter
		over := make(chan struct{})
		end := sync.OnceFunc(func() { close(over) })
		t.Cleanup(end) // before the scheduler waits for the run
		p.add(t, "job", l.UnderLock("job", func(context.Context) error {
			begun.add()
			<-over
			return nil
		}))
		time.Sleep(70 * time.Second)
		require.Equal(t, 1, begun.now())
		p.host.Isolate()
		time.Sleep(time.Minute)
		p.host.Heal()
		time.Sleep(5 * time.Minute)
		require.Equal(t, 1, begun.now(), "two runs at the same time")
		_, err = l.Lock(bounded(t), "job")
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		end()
		time.Sleep(2 * time.Minute)
		require.Equal(t, 3, begun.now())
	})
}

func TestJobOfAnotherNameIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		l := cron.NewLocker(connect(t, srv).client, "/cron", time.Minute)
		work := l.UnderLock("report", func(context.Context) error { panic("called") })
		lock, err := l.Lock(bounded(t), "job")
		require.NoError(t, err)
		require.ErrorContains(t, work(bounded(t)), `job "report" does not hold its lock`)
		require.NoError(t, lock.Unlock(bounded(t)))
		require.ErrorContains(t, l.UnderLock("job", nil)(bounded(t)), "does not hold its lock", "it is released")
		require.ErrorIs(t, lock.Unlock(bounded(t)), locks.ErrReleased)
	})
}

// Each name has a separate mutex below the root, whatever is in the name.
func TestNamesOfJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		l := cron.NewLocker(connect(t, srv).client, "/cron", time.Minute)
		names := []string{"job", "example.com/jobs.Report", "", ".", "..", "a b", "ü", "a/../job", "%2E"}
		for _, name := range names {
			lock, err := l.Lock(bounded(t), name)
			require.NoError(t, err, name)
			defer lock.Unlock(bounded(t))
			_, err = l.Lock(bounded(t), name)
			require.ErrorIs(t, err, locks.ErrNotAcquired, name)
		}
		require.Len(t, srv.Children("/cron"), len(names))
	})
}

// What is nil is an error of all that needs it, and no panic in a scheduler.
func TestNilArgumentsAreErrors(t *testing.T) {
	nobody := cron.NewElector(nil)
	require.ErrorIs(t, nobody.IsLeader(t.Context()), zk.ErrBadArguments)
	require.ErrorIs(t, nobody.UnderLeadership(nil)(t.Context()), zk.ErrBadArguments)
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		l := cron.NewLocker(connect(t, srv).client, "/cron", time.Minute)
		lock, err := l.Lock(bounded(t), "job")
		require.NoError(t, err)
		require.ErrorIs(t, l.UnderLock("job", nil)(bounded(t)), zk.ErrBadArguments)
		require.NoError(t, lock.Unlock(bounded(t)))
		_, leads := candidate(t, srv)
		require.NoError(t, leads.IsLeader(t.Context()))
		require.ErrorIs(t, leads.UnderLeadership(nil)(bounded(t)), zk.ErrBadArguments)
	})
}

func TestLockerThatCannotBeUsed(t *testing.T) {
	_, err := cron.NewLocker(nil, "/cron", time.Minute).Lock(t.Context(), "job")
	require.ErrorIs(t, err, zk.ErrBadArguments)
	synctest.Test(t, func(t *testing.T) {
		_, err := cron.NewLocker(connect(t, zktest.Start(t)).client, "cron", time.Minute).Lock(t.Context(), "job")
		require.ErrorIs(t, err, zk.ErrInvalidPath)
	})
}
