package asynq_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"

	periodic "github.com/gocurator/curator/contrib/asynq"
)

func TestMain(m *testing.M) { recipetest.Main(m) }

// world has ZooKeeper in virtual time. Its Redis is outside of that, on a port:
// time stands still while a request is on its way.
type world struct {
	srv   *zktest.Server
	redis *miniredis.Miniredis
}

func inVirtualTime(t *testing.T, scenario func(t *testing.T, w *world)) {
	t.Helper()
	redis := miniredis.RunT(t)
	synctest.Test(t, func(t *testing.T) { scenario(t, &world{zktest.Start(t), redis}) })
}

// pending returns how many tasks there are, which nobody takes.
func (w *world) pending(t *testing.T) int {
	t.Helper()
	if !w.redis.Exists("asynq:{default}:pending") {
		return 0
	}
	tasks, err := w.redis.List("asynq:{default}:pending")
	require.NoError(t, err)
	return len(tasks)
}

// process is one of a fleet.
type process struct {
	host  *zktest.Host
	latch *leader.Latch
	opts  asynq.PeriodicTaskManagerOpts
	stop  context.CancelFunc
	ended chan error // what Lead returns

	mu       sync.Mutex // protects the following field
	enqueued []time.Time
}

// process returns one that has a task, and does not stand for leader.
func (w *world) process(t *testing.T, spec string) *process {
	t.Helper()
	p := &process{host: w.srv.NewHost(), ended: make(chan error, 1)}
	p.opts = asynq.PeriodicTaskManagerOpts{
		RedisConnOpt:               asynq.RedisClientOpt{Addr: w.redis.Addr()},
		PeriodicTaskConfigProvider: every(spec),
		SyncInterval:               10 * time.Second,
		SchedulerOpts:              &asynq.SchedulerOpts{LogLevel: asynq.FatalLevel, PostEnqueueFunc: p.note(t)},
	}
	return p
}

func (p *process) note(t *testing.T) func(*asynq.TaskInfo, error) {
	return func(_ *asynq.TaskInfo, err error) {
		if err != nil {
			t.Error(err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.enqueued = append(p.enqueued, time.Now())
	}
}

// times returns when the process has enqueued a task.
func (p *process) times() []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.enqueued)
}

// stand has the process stand for leader, until stop or the end of the test.
func (w *world) stand(t *testing.T, p *process) *process {
	t.Helper()
	client := curatortest.Connect(t, w.srv, framework.WithDialer(p.host.Dialer()))
	var err error
	p.latch, err = leader.NewLatch(client, "/tasks/leader")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	p.stop = stop
	over := make(chan struct{})
	go func() {
		defer close(over)
		p.ended <- periodic.Lead(ctx, p.latch, p.opts)
		_ = p.latch.Shutdown(bounded(t))
	}()
	t.Cleanup(func() { stop(); <-over })
	synctest.Wait()
	return p
}

// every is a provider with one task.
type every string

func (spec every) GetConfigs() ([]*asynq.PeriodicTaskConfig, error) {
	return []*asynq.PeriodicTaskConfig{{Cronspec: string(spec), Task: asynq.NewTask("report", nil)}}, nil
}

// bounded is a context that outlasts all that a test waits for.
func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 24*time.Hour)
	t.Cleanup(cancel)
	return ctx
}
