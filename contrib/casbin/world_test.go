package zkwatcher_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"

	zkwatcher "github.com/gocurator/curator/contrib/casbin"
)

func TestMain(m *testing.M) { recipetest.Main(m) }

const path = "/casbin/policy"

func inVirtualTime(t *testing.T, scenario func(t *testing.T, w *world)) {
	t.Helper()
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) { scenario(t, &world{w}) })
}

type world struct{ *recipetest.World }

// instance is a process that has a Watcher and no enforcer: it counts its
// loads.
type instance struct {
	*zkwatcher.Watcher
	client  *framework.Client
	network *recipetest.Network
	log     *recipetest.Log

	mu    sync.Mutex  // protects the following fields
	begun []time.Time // the loads
	work  func() error
}

// instance returns one whose Watcher is closed at the end of the test. Its
// loads take no time.
func (w *world) instance(t *testing.T, opts ...zkwatcher.Option) *instance {
	t.Helper()
	i := w.process(t)
	i.watch(t, i.load, opts...)
	return i
}

// process returns an instance without a Watcher.
func (w *world) process(t *testing.T) *instance {
	t.Helper()
	i := &instance{log: &recipetest.Log{}}
	i.client, i.network = w.Connect(t, logTo(i.log))
	return i
}

func (i *instance) watch(t *testing.T, load func() error, opts ...zkwatcher.Option) {
	t.Helper()
	var err error
	i.Watcher, err = zkwatcher.New(i.client, path, load, opts...)
	require.NoError(t, err)
	t.Cleanup(i.Close)
	settle()
}

// does sets what the loads do from now on.
func (i *instance) does(work func() error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.work = work
}

func (i *instance) load() error {
	i.mu.Lock()
	i.begun = append(i.begun, time.Now())
	work := i.work
	i.mu.Unlock()
	if work == nil {
		return nil
	}
	return work()
}

// loads returns how many loads have begun since the last call.
func (i *instance) loads() int { return len(i.times()) }

// times returns when they have begun.
func (i *instance) times() []time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	begun := slices.Clone(i.begun)
	i.begun = nil
	return begun
}

// settle lets a second of virtual time pass.
func settle() {
	time.Sleep(time.Second)
	synctest.Wait()
}
