package zkwatcher_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	v2persist "github.com/casbin/casbin/v2/persist"
	"github.com/casbin/casbin/v3"
	"github.com/casbin/casbin/v3/model"
	"github.com/casbin/casbin/v3/persist"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"

	zkwatcher "github.com/gocurator/curator/contrib/casbin"
)

var (
	_ persist.Watcher   = (*zkwatcher.Watcher)(nil)
	_ v2persist.Watcher = (*zkwatcher.Watcher)(nil)
)

const accessModel = `
[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = r.sub == p.sub && r.obj == p.obj && r.act == p.act
`

// table stands for the database that all instances share. It is a
// persist.Adapter.
type table struct {
	mu    sync.Mutex // protects the following fields
	rules [][]string
	fault error
	then  func() // called once when the rules were read
}

func (db *table) LoadPolicy(m model.Model) error {
	db.mu.Lock()
	rules, fault, then := slices.Clone(db.rules), db.fault, db.then
	db.then = nil
	db.mu.Unlock()
	if then != nil {
		then()
	}
	for _, rule := range rules {
		fault = errors.Join(fault, persist.LoadPolicyArray(append([]string{"p"}, rule...), m))
	}
	return fault
}

func (db *table) AddPolicy(_, _ string, rule []string) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.rules = append(db.rules, rule)
	return nil
}

func (db *table) SavePolicy(model.Model) error                { return errors.New("not implemented") }
func (db *table) RemovePolicy(string, string, []string) error { return errors.New("not implemented") }
func (db *table) RemoveFilteredPolicy(string, string, int, ...string) error {
	return errors.New("not implemented")
}

// whileRead has f called once, between the next load's reading of the rules and
// its end.
func (db *table) whileRead(f func()) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.then = f
}

// fails sets the error of the loads from now on.
func (db *table) fails(err error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.fault = err
}

// service is an instance that enforces the policy.
type service struct {
	casbin.IEnforcer
	watcher *zkwatcher.Watcher
	client  *framework.Client
	network *recipetest.Network
	loaded  chan error // the result of each load
}

// serve starts one. Its loads are done on the goroutine of the Watcher.
func (w *world) serve(t *testing.T, e casbin.IEnforcer) *service {
	t.Helper()
	s := &service{IEnforcer: e, loaded: make(chan error, 1000)}
	s.client, s.network = w.Connect(t)
	var err error
	load := loadOf(e)
	s.watcher, err = zkwatcher.New(s.client, path, func() error {
		err := load()
		s.loaded <- err
		return err
	})
	require.NoError(t, err)
	t.Cleanup(s.watcher.Close)
	require.NoError(t, e.SetWatcher(s.watcher))
	require.NoError(t, <-s.loaded)
	return s
}

// loadOf returns the function that README gives.
func loadOf(e casbin.IEnforcer) func() error {
	if cached, ok := e.(*casbin.SyncedCachedEnforcer); ok {
		return cachedLoad(cached)
	}
	return e.LoadPolicy
}

func synced(t *testing.T, db *table) *casbin.SyncedEnforcer {
	t.Helper()
	m, err := model.NewModelFromString(accessModel)
	require.NoError(t, err)
	e, err := casbin.NewSyncedEnforcer(m, db)
	require.NoError(t, err)
	return e
}

func (s *service) allows(t *testing.T, who string) bool {
	t.Helper()
	ok, err := s.Enforce(who, "report", "read")
	require.NoError(t, err)
	return ok
}

// untilAllowed waits for the load after which somebody is allowed.
func (s *service) untilAllowed(t *testing.T, w *world, who string) {
	t.Helper()
	for !s.allows(t, who) {
		select {
		case <-s.loaded:
		case <-w.Patience(t).Done():
			require.Fail(t, "not allowed", who)
		}
	}
}

// add changes the policy, and returns what the Watcher has made of that.
func (s *service) add(t *testing.T, who string) error {
	t.Helper()
	_, err := s.AddPolicy(who, "report", "read")
	return err
}

// addSoon is add. A real server may take longer to answer than Update waits.
func (s *service) addSoon(t *testing.T, who string) {
	t.Helper()
	if err := s.add(t, who); err != nil {
		require.ErrorIs(t, err, zkwatcher.ErrPending)
	}
}

// addUnlocked is add, but calls Update as casbin does after the enforcer has
// given its lock back. Virtual time stands still while a load waits for that
// lock.
func (s *service) addUnlocked(t *testing.T, who string) error {
	t.Helper()
	s.EnableAutoNotifyWatcher(false)
	defer s.EnableAutoNotifyWatcher(true)
	require.NoError(t, s.add(t, who))
	return s.watcher.Update()
}

func TestPolicyOfOneIsEnforcedByTheOthers(t *testing.T) {
	recipetest.OnFakeAndReal(t, func(t *testing.T, of *recipetest.World) {
		w, db := &world{of}, &table{}
		a, b := w.serve(t, synced(t, db)), w.serve(t, synced(t, db))
		require.False(t, b.allows(t, "alice"))
		a.addSoon(t, "alice")
		b.untilAllowed(t, w, "alice")

		heal := b.network.Isolate()
		a.addSoon(t, "bob")
		require.False(t, b.allows(t, "bob"))
		heal()
		b.untilAllowed(t, w, "bob")

		w.Stop()
		require.ErrorIs(t, b.addUnlocked(t, "carol"), zkwatcher.ErrPending)
		require.False(t, a.allows(t, "carol"))
		w.Start()
		a.untilAllowed(t, w, "carol")
		require.True(t, b.allows(t, "carol"))
	})
}

// The database is down when the policy changes.
func TestPolicyIsEnforcedAlthoughTheLoadFailsAtFirst(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		db := &table{}
		a, b := w.serve(t, synced(t, db)), w.serve(t, synced(t, db))
		db.fails(errors.New("the database is down"))
		require.NoError(t, a.add(t, "alice"))
		require.ErrorContains(t, <-b.loaded, "the database is down")
		time.Sleep(time.Minute)
		require.False(t, b.allows(t, "alice"))
		db.fails(nil)
		time.Sleep(time.Minute)
		require.True(t, b.allows(t, "alice"))
	})
}

// An enforcer that loads the policy undoes what it has added meanwhile: it has
// read the database before.
func TestChangeDuringALoadStays(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		db := &table{}
		m, err := model.NewModelFromString(accessModel)
		require.NoError(t, err)
		e, err := casbin.NewEnforcer(m, db) // a SyncedEnforcer does it between its two locks
		require.NoError(t, err)
		a, b := w.serve(t, e), w.serve(t, synced(t, db))
		settle() // the first loads have returned: an Update during one is followed by another
		db.whileRead(func() { require.NoError(t, a.add(t, "bob")) })
		require.NoError(t, a.LoadPolicy())
		require.False(t, a.allows(t, "bob"), "without a Watcher, nobody loads it again")
		settle()

		db.whileRead(func() {
			added := make(chan error)
			go func() { added <- a.add(t, "carol") }()
			if err := <-added; err != nil {
				t.Error(err)
			}
		})
		require.NoError(t, b.add(t, "alice"))
		settle()
		require.True(t, a.allows(t, "carol"))
	})
}

func cached(t *testing.T, db *table) *casbin.SyncedCachedEnforcer {
	t.Helper()
	m, err := model.NewModelFromString(accessModel)
	require.NoError(t, err)
	e, err := casbin.NewSyncedCachedEnforcer(m, db)
	require.NoError(t, err)
	return e
}

// A load has read the database, and the enforcer still has the old policy: what
// it decides then goes into the cache that LoadPolicy has cleared before.
func TestDecisionDuringALoadIsMadeAnew(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		db := &table{}
		a, b := w.serve(t, synced(t, db)), w.serve(t, cached(t, db))
		db.whileRead(func() {
			if ok, err := b.Enforce("alice", "report", "read"); ok || err != nil {
				t.Error("not by the old policy", ok, err)
			}
		})
		require.NoError(t, a.add(t, "alice")) // which does not load: the next load is b's
		settle()
		require.True(t, b.allows(t, "alice"))
	})
}

// casbin's own callback leaves the decisions that are cached.
func TestCachedDecisionsAreMadeAnew(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		db := &table{}
		a, b := w.serve(t, synced(t, db)), w.serve(t, cached(t, db))
		require.False(t, b.allows(t, "alice"))
		require.NoError(t, a.add(t, "alice"))
		settle()
		require.True(t, b.allows(t, "alice"))

		client, _ := w.Connect(t)
		classic := cached(t, db)
		watcher, err := zkwatcher.New(client, path, nil)
		require.NoError(t, err)
		defer watcher.Close()
		require.NoError(t, classic.SetWatcher(watcher))
		settle()
		ok, err := classic.Enforce("bob", "report", "read")
		require.NoError(t, err)
		require.False(t, ok)
		require.NoError(t, a.add(t, "bob"))
		settle()
		ok, err = classic.Enforce("bob", "report", "read")
		require.NoError(t, err)
		require.False(t, ok, "casbin has learnt to do that: say so in README")
	})
}
