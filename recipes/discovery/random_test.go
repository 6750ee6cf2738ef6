package discovery_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/testing/zktest"
)

var discoverySeeds = recipetest.SeedFlags("discovery", 200)

// Registrants come, change what they say, freeze, die, lose their sessions and
// contend for an ID, while faults happen to them, to the readers and to the
// servers. The comment of fleet lists the checks. Every other seed has an
// ensemble whose followers lag behind.
func TestDirectoryUnderRandomFaults(t *testing.T) {
	discoverySeeds.Each(t, func(t *testing.T, seed uint64) {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, seed)
			defer func() { recipetest.LogEvents(t, f.servers()) }()
			f.run()
		})
	})
}

const (
	fleetSession = 6 * time.Second
	registrants  = 3
)

// fleet is one run of the simulation. It checks:
//
//  1. A directory that is not interrupted has each instance that is in the tree
//     as of its transaction, with what its node says.
//  2. It has no other, but one that drained not and whose node is gone, for no
//     longer than the removal grace. It knows which nodes are malformed.
//  3. Its transaction never goes back.
//  4. When the faults have stopped, each registrant has one node, with its last
//     data, one of them has the common ID, and directories have just that.
//  5. When all have ended, nothing is left.
type fleet struct {
	*testing.T
	seed uint64
	srv  *zktest.Server // nil if there is an ensemble
	ens  *zktest.Ensemble

	mu      sync.Mutex // protects the following fields
	past    []sample   // oldest first
	checked int        // snapshots
}

// sample is the tree as of a transaction: what the nodes say, by their names.
type sample struct {
	zxid int64
	when time.Time
	tree map[string]string
	bad  map[string]bool // the nodes that say nothing that can be read
	text string          // with the versions of all nodes
}

func newFleet(t *testing.T, seed uint64) *fleet {
	f := &fleet{T: t, seed: seed}
	const long = 2 * fleetSession
	plan := zktest.ChaosPlan{
		Seed: seed,
		Faults: []zktest.Rule{
			{Chance: 0.01, Do: zktest.DropRequest()},
			{Chance: 0.01, Do: zktest.DropReply()},
			{Chance: 0.004, Do: zktest.Blackhole()},
			{Chance: 0.02, Do: zktest.DelayReply(300 * time.Millisecond)},
			{Chance: 0.02, Op: zktest.OpCreate, Do: zktest.DelayRequest(time.Second)},
		},
		Every: 5 * time.Second,
		Disruptions: []zktest.Disruption{
			{Kind: "cut"}, {Kind: "cut"}, {Kind: "replace"}, {Kind: "expire"},
			{Kind: "stop", For: time.Second}, {Kind: "blackhole", For: long}, {Kind: "pause_session", For: long}, {Kind: "pause_session", For: time.Second},
			{Kind: "delete a node", Do: f.atSomeNode(func(s *zktest.Server, path string) { _ = s.Delete(path) })},
			{Kind: "garbage", Do: f.atSomeNode(func(s *zktest.Server, path string) { _ = s.Set(path, []byte("garbage")) })},
		},
	}
	if seed%2 == 0 {
		f.srv = zktest.Start(t, zktest.WithChaos(plan))
		return f
	}
	plan.Disruptions = append(plan.Disruptions, zktest.Disruption{Kind: "resign"},
		zktest.Disruption{Kind: "lag", Lag: 300 * time.Millisecond, For: 5 * time.Second}, zktest.Disruption{Kind: "lag", Lag: 2 * time.Second, For: 5 * time.Second})
	f.ens = zktest.StartEnsemble(t, 3, zktest.WithChaos(plan))
	return f
}

// atSomeNode returns a disruption of an instance's node.
func (f *fleet) atSomeNode(do func(s *zktest.Server, path string)) func(*rand.Rand) {
	return func(rng *rand.Rand) {
		s := f.head()
		if s == nil {
			return
		}
		if names := s.Children(base + "/orders"); len(names) > 0 {
			do(s, base+"/orders/"+names[rng.IntN(len(names))])
		}
	}
}

// head returns a server that has applied all there is, or nil.
func (f *fleet) head() *zktest.Server {
	if f.ens == nil {
		return f.srv
	}
	if m := f.ens.Leader(); m != nil && zkinside.Of(m).Behind() == 0 {
		return m.Server
	}
	return nil
}

func (f *fleet) servers() any {
	if f.ens == nil {
		return f.srv
	}
	return f.ens
}

func (f *fleet) stopFaults() {
	if f.ens == nil {
		f.srv.StopFaults()
	} else {
		f.ens.Members()[0].StopFaults()
	}
}

// connect returns a client, and the machine on which it runs.
func (f *fleet) connect() (*framework.Client, *zktest.Host) {
	servers, host := "", (*zktest.Host)(nil)
	if f.ens == nil {
		servers, host = f.srv.Addr(), f.srv.NewHost()
	} else {
		servers, host = f.ens.ConnectString(), f.ens.NewHost()
	}
	c, err := framework.New(servers, framework.WithDialer(host.Dialer()), framework.WithSessionTimeout(fleetSession))
	require.NoError(f, err)
	f.Cleanup(func() { c.Close() })
	return c, host
}

func (f *fleet) run() {
	restless, stop := context.WithTimeout(f.Context(), 2*time.Minute)
	defer stop()
	over, end := context.WithCancel(f.Context())
	var fleet, readers sync.WaitGroup
	defer readers.Wait()
	defer fleet.Wait()
	defer end()
	ids := make([]*registrant, 2*registrants)
	for i := range ids {
		ids[i] = &registrant{fleet: f, rng: rand.New(rand.NewPCG(f.seed, uint64(i))), id: fmt.Sprint("r", i)}
		ids[i].mortal = i%registrants > 0 // two share a client, which does not die
		if i >= registrants {
			ids[i].id = "common"
		}
		if i == registrants {
			ids[i].client = ids[0].client
		} else {
			ids[i].client, ids[i].host = f.connect()
		}
		fleet.Go(func() { ids[i].live(restless, over) })
		time.Sleep(10 * time.Millisecond)
	}
	directories := []*reader{{fleet: f, grace: time.Second}, {fleet: f}, {fleet: f, grace: time.Second, all: true}}
	for _, r := range directories {
		r.begin()
		readers.Go(func() { r.follow() })
	}
	readers.Go(func() { f.watch(over) })
	<-restless.Done()
	f.stopFaults()
	time.Sleep(time.Minute)
	synctest.Wait()
	want := f.checkTree(ids)
	for _, r := range directories {
		require.NoError(f, r.d.WaitFor(recipetest.Within(f.T, time.Minute), f.head().Stats().Zxid))
		require.False(f, r.d.Snapshot().Interrupted)
		require.Equal(f, want, names(r.d))
	}
	end()
	fleet.Wait()
	passGrace()
	for _, r := range directories {
		require.Empty(f, names(r.d))
		require.NoError(f, r.d.Close())
	}
	readers.Wait()
	require.Empty(f, f.head().Children(base+"/orders"))
	require.Greater(f, f.checked, 50, "the time was too quiet to show anything")
}

// checkTree checks the tree when all rests, and returns the instances in it.
func (f *fleet) checkTree(all []*registrant) (want []string) {
	now := f.sample()
	holders := 0
	for _, r := range all {
		said := r.r.Instance()
		text := name(&discovery.Entry{Instance: said})
		if r.id != "common" {
			require.Equal(f, text, now.tree[r.id])
		} else if there, ok := r.r.Node().Registration(); ok {
			n, _ := f.head().Node(there.Path)
			require.Equal(f, there.Czxid, n.Stat.Czxid)
			require.Equal(f, text, now.tree[r.id])
			holders++
		}
	}
	require.Equal(f, 1, holders)
	require.Len(f, now.tree, registrants+1)
	for _, text := range now.tree {
		want = append(want, text)
	}
	slices.Sort(want)
	return want
}

// sample returns the tree now, or nothing if there is no such moment.
func (f *fleet) sample() (s sample) {
	head := f.head()
	if head == nil {
		return s
	}
	s = sample{zxid: head.Stats().Zxid, when: time.Now(), tree: map[string]string{}, bad: map[string]bool{}}
	for _, n := range head.Tree() {
		id, ok := strings.CutPrefix(n.Path, base+"/orders/")
		if !ok {
			continue
		}
		s.text += fmt.Sprint(n.Path, n.Stat.Czxid, n.Stat.Mzxid, " ")
		if i, err := (plain{}).Decode("orders", id, n.Data); err == nil {
			s.tree[id] = name(&discovery.Entry{Instance: i})
		} else {
			s.bad[id] = true
		}
	}
	if f.head() != head || head.Stats().Zxid != s.zxid {
		return sample{}
	}
	return s
}

// watch notes what the tree is like after each change, until ctx ends.
func (f *fleet) watch(ctx context.Context) {
	srv := f.srv
	if f.ens != nil {
		srv = f.ens.Members()[0].Server
	}
	last := int64(-1)
	srv.WaitFor(ctx, func() bool {
		if head := f.head(); head == nil || head.Stats().Zxid == last {
			return false
		}
		if s := f.sample(); s.tree != nil {
			last = s.zxid
			f.mu.Lock()
			defer f.mu.Unlock()
			f.past = append(f.past, s)
		}
		return false
	})
}

// at returns the tree as of a transaction, if that is known.
func (f *fleet) at(zxid int64) (sample, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i, exactly := slices.BinarySearchFunc(f.past, zxid, func(s sample, z int64) int {
		return int(min(1, max(-1, s.zxid-z)))
	})
	switch {
	case exactly:
		return f.past[i], true
	case i > 0 && i < len(f.past) && f.past[i-1].text == f.past[i].text:
		return f.past[i], true
	}
	return sample{}, false
}

// wentBefore returns when an instance has gone last, as of a transaction, or the zero
// time.
func (f *fleet) wentBefore(id string, zxid int64) (when time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	there := false
	for _, s := range f.past {
		if s.zxid > zxid {
			break
		}
		_, still := s.tree[id]
		if there && !still {
			when = s.when
		}
		there = still
	}
	return when
}

// reader is one directory.
type reader struct {
	*fleet
	grace       time.Duration
	all         bool // it has all services
	d           *discovery.Directory
	last        int64                // the transaction of the last snapshot
	since       map[string]time.Time // when an entry was first there without a node
	interrupted bool
}

func (r *reader) begin() {
	c, _ := r.connect()
	grace := discovery.WithRemovalGrace(r.grace)
	var err error
	if r.all {
		r.d, err = discovery.NewServices(c, base, plain{}, grace)
	} else {
		r.d, err = discovery.NewDirectory(c, base, plain{}, "orders", grace)
	}
	require.NoError(r, err)
	r.since = map[string]time.Time{}
}

// follow checks each snapshot, a moment later, when its transaction is known.
func (r *reader) follow() {
	var checks sync.WaitGroup
	defer checks.Wait()
	shown := make(chan func(), 1000)
	checks.Go(func() {
		for check := range shown {
			check()
		}
	})
	defer close(shown)
	var last *discovery.Snapshot
	for range r.d.Changes(context.Background()) {
		if s, now := r.d.Snapshot(), time.Now(); s != last {
			last = s
			shown <- func() {
				time.Sleep(max(0, time.Until(now.Add(5*time.Second))))
				r.check(s, now)
			}
		}
	}
}

// resume has the grace begin again at the end of an interruption.
func (r *reader) resume(interrupted bool, now time.Time) {
	if r.interrupted && !interrupted {
		for id := range r.since {
			r.since[id] = now
		}
	}
	r.interrupted = interrupted
}

func (r *reader) check(s *discovery.Snapshot, now time.Time) {
	if s.Zxid < r.last {
		r.Errorf("the directory has gone back from %#x to %#x", r.last, s.Zxid)
	}
	r.last = s.Zxid
	r.resume(s.Interrupted, now)
	as, known := r.at(s.Zxid)
	if s.Interrupted || !known {
		return
	}
	r.mu.Lock()
	r.checked++
	r.mu.Unlock()
	shown := map[string]string{}
	for _, e := range s.Entries {
		shown[e.ID] = name(e)
		if _, there := as.tree[e.ID]; there {
			delete(r.since, e.ID)
			continue
		}
		if r.since[e.ID].IsZero() {
			r.since[e.ID] = now
		}
		if went := r.wentBefore(e.ID, s.Zxid); went.After(r.since[e.ID]) { // it had come back, which no reader is told
			r.since[e.ID] = went
		}
		if e.Disabled || as.bad[e.ID] || now.Sub(r.since[e.ID]) > r.grace || r.grace == 0 {
			r.Errorf("%s: %s is shown as of %#x, without a node since %s", now, name(e), s.Zxid, r.since[e.ID])
		}
	}
	bad := map[string]bool{}
	for _, b := range s.Bad {
		bad[b.ID] = true
	}
	if !maps.Equal(bad, as.bad) {
		r.Errorf("%s: %v are malformed as of %#x, and not %v", now, as.bad, s.Zxid, bad)
	}
	for id, text := range as.tree {
		if shown[id] != text {
			r.Errorf("%s: %q is shown as of %#x, and the node says %q", now, shown[id], s.Zxid, text)
		}
	}
	for id := range r.since {
		if _, there := shown[id]; !there {
			delete(r.since, id)
		}
	}
}
