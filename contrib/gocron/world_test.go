package gocron_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

func TestMain(m *testing.M) { recipetest.Main(m) }

// process is one of a fleet: a client on a separate host, and a scheduler.
type process struct {
	host      *zktest.Host
	client    *framework.Client
	scheduler gocron.Scheduler
}

// start starts a process whose scheduler has the option.
func start(t *testing.T, srv *zktest.Server, opt func(*framework.Client) gocron.SchedulerOption) *process {
	t.Helper()
	p := connect(t, srv)
	var err error
	p.scheduler, err = gocron.NewScheduler(opt(p.client))
	require.NoError(t, err)
	p.scheduler.Start()
	t.Cleanup(func() { require.NoError(t, p.scheduler.Shutdown()) })
	return p
}

// connect starts a process without a scheduler.
func connect(t *testing.T, srv *zktest.Server) *process {
	t.Helper()
	host := srv.NewHost()
	return &process{host: host, client: curatortest.Connect(t, srv, framework.WithDialer(host.Dialer()))}
}

// add adds a job that is due once a minute.
func (p *process) add(t *testing.T, name string, work any) {
	t.Helper()
	_, err := p.scheduler.NewJob(gocron.DurationJob(time.Minute), gocron.NewTask(work), gocron.WithName(name))
	require.NoError(t, err)
}

// counter counts runs.
type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
}

func (c *counter) now() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// bounded returns a context that lasts longer than any wait of a test.
func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 24*time.Hour)
	t.Cleanup(cancel)
	return ctx
}
