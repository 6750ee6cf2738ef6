package asynq_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/testing/curatortest"

	periodic "github.com/gocurator/curator/contrib/asynq"
)

const (
	eachMinute = "* * * * *"
	eachSecond = "@every 1s"
)

// The measurement of README.
func TestTaskIsEnqueuedOnceForEachDueTime(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		for range 3 {
			w.stand(t, w.process(t, eachMinute))
		}
		time.Sleep(10*time.Minute + 30*time.Second)
		synctest.Wait()
		require.Equal(t, 10, w.pending(t))
	})
}

func TestTaskIsEnqueuedByEachManagerWithoutALeader(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		for range 3 {
			m, err := asynq.NewPeriodicTaskManager(w.process(t, eachMinute).opts)
			require.NoError(t, err)
			require.NoError(t, m.Start())
			t.Cleanup(m.Shutdown)
		}
		time.Sleep(10*time.Minute + 30*time.Second)
		synctest.Wait()
		require.Equal(t, 30, w.pending(t))
	})
}

// The leader is cut off from ZooKeeper, and not from Redis.
func TestLeaderThatIsCutOffEnqueuesNothingBesideTheNext(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a := w.stand(t, w.process(t, eachSecond))
		b := w.stand(t, w.process(t, eachSecond))
		lease := a.latch.Leadership()
		require.NotNil(t, lease)
		var over time.Time
		defer context.AfterFunc(lease.Context(), func() { over = time.Now() })()
		time.Sleep(10*time.Second + 300*time.Millisecond)
		a.host.Isolate()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		last, next := a.times()[len(a.times())-1], b.times()[0]
		t.Logf("the leadership ends %v before the next task of the other", next.Sub(over))
		require.False(t, last.After(over))
		require.True(t, over.Before(next))
		require.ErrorIs(t, context.Cause(lease.Context()), framework.ErrSessionLost)
		a.host.Heal()
		enqueued := len(a.times())
		time.Sleep(time.Minute)
		require.Len(t, a.times(), enqueued)
	})
}

// So is its database: GetConfigs does not return. asynq would go on meanwhile.
func TestConfigsThatHangDoNotKeepALeaderEnqueueing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.process(t, eachSecond)
		hangs := &hanging{every: eachSecond, goOn: make(chan struct{})}
		defer close(hangs.goOn)
		p.opts.PeriodicTaskConfigProvider = hangs
		a, b := w.stand(t, p), w.stand(t, w.process(t, eachSecond))
		time.Sleep(9 * time.Second)
		hangs.hangs.Store(true)
		a.host.Isolate()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		require.True(t, a.times()[len(a.times())-1].Before(b.times()[0]))
		a.host.Heal()
	})
}

type hanging struct {
	every
	hangs atomic.Bool
	goOn  chan struct{}
}

func (h *hanging) GetConfigs() ([]*asynq.PeriodicTaskConfig, error) {
	if h.hangs.Load() {
		<-h.goOn
	}
	return h.every.GetConfigs()
}

func TestNextProcessTakesOver(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a := w.stand(t, w.process(t, eachMinute))
		b := w.stand(t, w.process(t, eachMinute))
		time.Sleep(5*time.Minute + 30*time.Second)
		a.stop()
		require.ErrorIs(t, <-a.ended, context.Canceled)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		require.Len(t, a.times(), 5)
		require.Len(t, b.times(), 5)
		require.Equal(t, 10, w.pending(t))
	})
}

// A manager cannot be started again. Each leadership has one of its own.
func TestProcessLeadsAgain(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a := w.stand(t, w.process(t, eachMinute))
		b := w.stand(t, w.process(t, eachMinute))
		time.Sleep(150 * time.Second)
		require.NoError(t, a.latch.Resign(bounded(t)))
		time.Sleep(2 * time.Minute)
		b.stop()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		require.Len(t, a.times(), 4)
		require.Len(t, b.times(), 2)
		require.Equal(t, 6, w.pending(t))
	})
}

func TestManagerThatCannotStartEndsLead(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.process(t, eachMinute)
		down := errors.New("the database is down")
		p.opts.PeriodicTaskConfigProvider = failing{down}
		require.ErrorIs(t, <-w.stand(t, p).ended, down)
	})
}

type failing struct{ err error }

func (f failing) GetConfigs() ([]*asynq.PeriodicTaskConfig, error) { return nil, f.err }

// It does not lead for ever without enqueueing anything.
func TestConfigsThatEndTheirGoroutineEndLead(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.process(t, eachMinute)
		p.opts.PeriodicTaskConfigProvider = ending{}
		w.stand(t, p)
		select {
		case err := <-p.ended:
			require.ErrorContains(t, err, "has ended its goroutine")
		case <-time.After(time.Hour):
			require.Fail(t, "it leads, and enqueues nothing")
		}
	})
}

type ending struct{}

func (ending) GetConfigs() ([]*asynq.PeriodicTaskConfig, error) {
	runtime.Goexit()
	return nil, nil
}

func TestConfigThatIsNotValidEndsLead(t *testing.T) {
	task := asynq.NewTask("report", nil)
	for name, config := range map[string]*asynq.PeriodicTaskConfig{
		"nil": nil, "no task": {Cronspec: eachMinute}, "no spec": {Task: task},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				p := w.process(t, eachMinute)
				p.opts.PeriodicTaskConfigProvider = fixed{config}
				require.ErrorContains(t, <-w.stand(t, p).ended, "invalid config")
			})
		})
	}
}

// asynq logs it, and leaves out its task alone.
func TestSpecThatCannotBeParsedDoesNotEndLead(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.process(t, eachMinute)
		p.opts.PeriodicTaskConfigProvider = fixed{
			{Cronspec: "each minute", Task: asynq.NewTask("bad", nil)},
			{Cronspec: eachMinute, Task: asynq.NewTask("good", nil)},
		}
		w.stand(t, p)
		time.Sleep(150 * time.Second)
		synctest.Wait()
		require.Equal(t, 2, w.pending(t))
	})
}

type fixed []*asynq.PeriodicTaskConfig

func (f fixed) GetConfigs() ([]*asynq.PeriodicTaskConfig, error) { return f, nil }

// All leaderships share it, and its owner closes it.
func TestRedisClientThatIsGivenStaysOpen(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.process(t, eachMinute)
		be(t, &p.opts.RedisUniversalClient, p.opts.RedisConnOpt.MakeRedisClient())
		p.opts.RedisConnOpt = nil
		w.stand(t, p)
		time.Sleep(150 * time.Second)
		require.NoError(t, p.latch.Resign(bounded(t)))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		require.Len(t, p.times(), 4)
		p.stop()
		require.ErrorIs(t, <-p.ended, context.Canceled)
		require.NoError(t, p.opts.RedisUniversalClient.Ping(bounded(t)).Err())
		require.NoError(t, p.opts.RedisUniversalClient.Close())
	})
}

// be sets a field whose type this module need not name.
func be[T any](t *testing.T, field *T, value any) {
	t.Helper()
	v, ok := value.(T)
	require.True(t, ok, "%T", value)
	*field = v
}

// The provider is asked again, as often as the manager's SyncInterval says.
func TestTasksChangeWhileAProcessLeads(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.process(t, eachMinute)
		tasks := &changing{}
		p.opts.PeriodicTaskConfigProvider = tasks
		w.stand(t, p)
		time.Sleep(150 * time.Second)
		require.Zero(t, w.pending(t))
		tasks.become(eachMinute)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		require.Equal(t, 2, w.pending(t))
	})
}

type changing struct {
	mu   sync.Mutex // protects the following field
	spec every
}

func (c *changing) become(spec every) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spec = spec
}

func (c *changing) GetConfigs() ([]*asynq.PeriodicTaskConfig, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spec == "" {
		return nil, nil
	}
	return c.spec.GetConfigs()
}

func TestBadArguments(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		opts := w.process(t, eachMinute).opts
		require.ErrorIs(t, periodic.Lead(t.Context(), nil, opts), zk.ErrBadArguments)
		latch, err := leader.NewLatch(curatortest.Connect(t, w.srv), "/tasks/leader")
		require.NoError(t, err)
		defer latch.Shutdown(bounded(t))
		noRedis, noProvider := opts, opts
		noRedis.RedisConnOpt = nil
		require.ErrorIs(t, periodic.Lead(t.Context(), latch, noRedis), zk.ErrBadArguments)
		negative := opts
		negative.SyncInterval = -time.Second
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, periodic.Lead(ctx, latch, negative), zk.ErrBadArguments)
		noProvider.PeriodicTaskConfigProvider = nil
		require.ErrorIs(t, periodic.Lead(t.Context(), latch, noProvider), zk.ErrBadArguments)
	})
}
