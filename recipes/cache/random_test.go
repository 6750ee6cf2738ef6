package cache_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

var cacheSeeds = recipetest.SeedFlags("cache", 200)

// Under random faults, with servers of different ages and with an ensemble
// whose members lag behind:
//
//  1. A cache is equal to the server's tree as of the transaction that it names.
//  2. That transaction never goes back.
//  3. When the faults have stopped, WaitFor brings the last state.
//  4. When the cache and its client are closed, nothing is left.
//
// Promise: Every step of a cache equals the tree after one transaction.
// Promise: A cache takes a step only when every read that the step needs has been answered.
func TestCacheIsEqualToTheTreeUnderRandomFaults(t *testing.T) {
	allSteps, allTogether = 0, 0
	cacheSeeds.InTurn(t, func(t *testing.T, seed uint64) {
		synctest.Test(t, func(t *testing.T) { newWorld(t, seed).run() })
	})
	t.Logf("%d steps of caches were compared, and nodes were read together %d times", allSteps, allTogether)
	require.Greater(t, allSteps, 20*cacheSeeds.Count())
}

// These count what was compared, and how often hot nodes were read together.
var allSteps, allTogether int

// world is a tree that changes all the time, and caches of it.
type world struct {
	*testing.T
	rng     *rand.Rand
	servers []*zktest.Server
	ens     *zktest.Ensemble
	client  *framework.Client
	keep    func(path string) bool
	noData  bool
	hot     bool // every other change is of one of two nodes

	now  map[string]string // the text of each node of the tree
	past []version         // of the tree, oldest first

	mu   sync.Mutex
	seen []version // of the cache, by readers
}

// version is a tree, as of a transaction.
type version struct {
	zxid int64
	tree string
	who  string
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{T: t, rng: rand.New(rand.NewPCG(seed, 1)), keep: func(string) bool { return true }, now: map[string]string{}}
	w.past = []version{{}} // the cache may begin before the first change
	w.hot = w.rng.IntN(2) == 0
	const short, long = time.Second, 12 * time.Second
	random := zktest.ChaosPlan{
		Seed: seed,
		Faults: []zktest.Rule{
			{Chance: 0.01, Do: zktest.DropRequest()},
			{Chance: 0.01, Do: zktest.DropReply()},
			{Chance: 0.002, Do: zktest.Blackhole()},
			{Chance: 0.01, Do: zktest.DelayReply(50 * time.Millisecond)},
		},
		Every: 3 * time.Second,
		Disruptions: []zktest.Disruption{
			{Kind: "cut"}, {Kind: "cut"}, {Kind: "replace"},
			{Kind: "stop", For: short}, {Kind: "stop", For: long}, {Kind: "pause", For: short}, {Kind: "blackhole", For: long},
			{Kind: "expire", Do: func(*rand.Rand) { w.head().Session(w.client.SessionID()).Expire() }},
		},
	}
	var opts []zktest.Option
	switch seed % 4 {
	case 1:
		opts = append(opts, zkinside.With(zkinside.Settings{Version38: true}).(zktest.Option))
	case 3:
		random.Disruptions = append(random.Disruptions, zktest.Disruption{Kind: "resign"}, zktest.Disruption{Kind: "lag", Lag: 300 * time.Millisecond, For: 5 * time.Second},
			zktest.Disruption{Kind: "lag", Lag: 2 * time.Second, For: 5 * time.Second}, zktest.Disruption{Kind: "partition", For: 5 * time.Second})
		w.ens = zktest.StartEnsemble(t, 3, zktest.WithChaos(random))
		for _, m := range w.ens.Members() {
			w.servers = append(w.servers, m.Server)
		}
		w.connect(w.ens.ConnectString(), framework.WithDialer(w.ens.Dialer()))
		return w
	}
	srv := zktest.Start(t, append(opts, zktest.WithChaos(random))...)
	w.servers = []*zktest.Server{srv}
	dialer := srv.Dialer()
	if w.hot {
		dialer = distant(w.T, srv.Dialer(), time.Duration(w.rng.IntN(5000))*time.Microsecond)
	}
	w.connect(srv.Addr(), framework.WithDialer(dialer))
	return w
}

func (w *world) connect(servers string, opt framework.Option) {
	c, err := framework.New(servers, opt, framework.WithSessionTimeout(6*time.Second))
	require.NoError(w, err)
	w.Cleanup(func() { c.Close() }) // for a trial that has failed
	w.client = c
}

func (w *world) head() *zktest.Server {
	if w.ens != nil {
		if m := w.ens.Leader(); m != nil {
			return m.Server
		}
	}
	return w.servers[0]
}

// options draws what the cache is asked for.
func (w *world) options() (opts []cache.Option) {
	if w.rng.IntN(4) == 0 {
		depth := w.rng.IntN(4)
		opts = append(opts, cache.WithDepth(depth))
		w.keep = func(path string) bool { return strings.Count(path, "/") <= depth+1 }
	}
	filter := func(string) bool { return true }
	if w.rng.IntN(4) == 0 {
		all := w.keep
		filter = func(path string) bool { return !strings.HasSuffix(path, "/b") }
		w.keep = func(path string) bool { return all(path) && !strings.Contains(path+"/", "/b/") }
	}
	if w.rng.IntN(2) == 0 {
		filter = w.slowly(filter)
	}
	opts = append(opts, cache.WithFilter(filter))
	if w.rng.IntN(4) == 0 {
		w.noData = true
		opts = append(opts, cache.WithoutData())
	}
	if w.rng.IntN(4) == 0 {
		opts = append(opts, cache.WithConcurrency(1))
	}
	return opts
}

// slowly pauses at times before it asks keep, while more answers and events
// arrive behind the event that it is asked about.
func (w *world) slowly(keep func(string) bool) func(string) bool {
	rng := rand.New(rand.NewPCG(w.rng.Uint64(), 2))
	return func(path string) bool {
		if rng.IntN(8) == 0 {
			time.Sleep(time.Duration(rng.IntN(10_000)) * time.Microsecond)
		}
		return keep(path)
	}
}

func (w *world) run() {
	opts := w.options()
	for range 20 {
		w.change()
	}
	c, err := cache.New(w.client, "/r", opts...)
	require.NoError(w, err)
	ctx, stop := context.WithCancel(w.Context())
	var readers sync.WaitGroup
	readers.Go(func() { w.followToTheEnd(ctx, "quick", c, 0) })
	readers.Go(func() { w.followToTheEnd(ctx, "slow", c, 3*time.Second) })
	readers.Go(func() { w.look(ctx, c) })
	for range 400 {
		w.change()
		if w.hot { // the answer tells of transactions that the cache has not read yet
			readers.Go(func() { w.client.Exists(ctx, "/") })
		}
		switch w.rng.IntN(8) {
		case 0:
			time.Sleep(time.Duration(w.rng.IntN(1000)) * time.Millisecond)
		case 1, 2, 3:
			time.Sleep(time.Duration(w.rng.IntN(2000)) * time.Microsecond)
		}
	}
	w.calm()
	time.Sleep(time.Minute)
	w.change()
	last := w.past[len(w.past)-1].zxid
	require.Equal(w, w.tree(w.head()), text(w.now), "this test has lost sight of the tree")
	within, cancel := context.WithTimeout(w.Context(), 30*time.Second)
	require.NoError(w, c.WaitFor(within, last))
	cancel()
	time.Sleep(10 * time.Second)
	stop()
	readers.Wait()
	require.GreaterOrEqual(w, c.Zxid(), last)
	w.observe("last", c.Zxid(), slices.Collect(c.All()))
	for _, watch := range w.head().Watches() {
		require.True(w, watch.Path != "/r" || watch.Persistent)
	}
	require.NoError(w, c.Close())
	require.NoError(w, w.client.Close())
	w.check(last)
	for _, s := range w.servers {
		allTogether += s.CountRequests(zkinside.OpMultiRead)
		require.Empty(w, s.Watches())
	}
}

func (w *world) calm() {
	if w.ens != nil {
		w.ens.Members()[0].StopFaults()
		return
	}
	w.servers[0].StopFaults()
}

// change makes a random change and notes what the tree is like then.
func (w *world) change() {
	head := w.head()
	path := "/r"
	if w.hot && w.rng.IntN(2) == 0 {
		path = []string{"/r", "/r/a"}[w.rng.IntN(2)]
	} else {
		for range w.rng.IntN(4) {
			path += "/" + string('a'+rune(w.rng.IntN(4)))
		}
	}
	_, there := head.Node(path)
	_, parent := head.Node(parentOf(path))
	var err error
	switch {
	case !there && parent:
		err = head.Create(path, fmt.Append(nil, w.rng.IntN(1000)))
	case there && len(head.Children(path)) == 0 && w.rng.IntN(2) == 0:
		err = head.Delete(path)
		if err == nil && w.rng.IntN(3) == 0 {
			head = w.applied()
			w.note(head, path)
			err = head.Create(path, nil) // with the same version as before, perhaps
		}
	case there:
		err = head.Set(path, fmt.Append(nil, w.rng.IntN(1000)))
	default:
		return
	}
	if err == nil {
		w.note(w.applied(), path)
	}
}

// applied waits until there is a leader that has applied all there is, and
// returns it.
func (w *world) applied() *zktest.Server {
	if w.ens == nil {
		return w.servers[0]
	}
	for {
		if m := w.ens.Leader(); m != nil && zkinside.Of(m).Behind() == 0 {
			return m.Server
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// note notes the tree after a change of one node.
func (w *world) note(head *zktest.Server, path string) {
	n, there := head.Node(path)
	parent, _ := head.Node(parentOf(path))
	zxid := parent.Stat.Pzxid
	if there {
		zxid = n.Stat.Mzxid
	}
	if w.keep(path) {
		delete(w.now, path)
		if there {
			w.now[path] = w.line(nodeOf(n))
		}
	}
	w.past = append(w.past, version{zxid: zxid, tree: text(w.now)})
}

func parentOf(path string) string { return cmp.Or(path[:strings.LastIndexByte(path, '/')], "/") }

// tree returns the text of the whole tree of a server.
func (w *world) tree(s *zktest.Server) string {
	var list []cache.Node
	for _, n := range s.Tree() {
		if strings.HasPrefix(n.Path+"/", "/r/") && w.keep(n.Path) {
			list = append(list, nodeOf(n))
		}
	}
	return w.text(list)
}

func nodeOf(n zktest.Node) cache.Node {
	node := cache.Node{Path: n.Path, Data: n.Data}
	node.Stat.Czxid, node.Stat.Mzxid = n.Stat.Czxid, n.Stat.Mzxid
	return node
}

// line returns the text of one node.
func (w *world) line(n cache.Node) string {
	b := append(make([]byte, 0, 64), n.Path...)
	b = append(b, '=')
	if !w.noData {
		b = append(b, n.Data...)
	}
	b = strconv.AppendInt(append(b, '('), n.Stat.Czxid, 10)
	b = strconv.AppendInt(append(b, ','), n.Stat.Mzxid, 10)
	return string(append(b, ") "...))
}

func (w *world) text(list []cache.Node) string {
	lines := make(map[string]string, len(list))
	for _, n := range list {
		lines[n.Path] = w.line(n)
	}
	return text(lines)
}

// text returns the lines in the order of their paths.
func text(lines map[string]string) string {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(lines)) {
		b.WriteString(lines[path])
	}
	return b.String()
}

func (w *world) observe(who string, zxid int64, nodes []cache.Node) {
	text := w.text(nodes)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, version{zxid, text, who})
}

// followToTheEnd is follow, whose context ends when it has been told everything.
func (w *world) followToTheEnd(ctx context.Context, who string, c *cache.Cache, pause time.Duration) {
	zxid, mine := w.follow(ctx, who, c, pause)
	w.observe(who+", at the end", zxid, values(mine))
}

// follow applies changes to a separate map, until ctx ends. The map may have only a
// part of the last step then.
func (w *world) follow(ctx context.Context, who string, c *cache.Cache, pause time.Duration) (zxid int64, mine map[string]cache.Node) {
	mine = map[string]cache.Node{}
	for ch := range c.Changes(ctx) {
		if ch.Zxid != zxid && zxid != 0 {
			w.observe(who, zxid, values(mine))
			time.Sleep(pause)
		}
		zxid = ch.Zxid
		switch ch.Type {
		case cache.Created:
			if _, known := mine[ch.New.Path]; known {
				w.Errorf("%s: %s was created again", who, ch.New.Path)
			}
			mine[ch.New.Path] = ch.New
		case cache.Changed:
			if mine[ch.New.Path].Stat.Mzxid >= ch.New.Stat.Mzxid {
				w.Errorf("%s: %s went back", who, ch.New.Path)
			}
			mine[ch.New.Path] = ch.New
		case cache.Deleted:
			if mine[ch.Old.Path].Stat.Mzxid != ch.Old.Stat.Mzxid {
				w.Errorf("%s: %s was deleted, and not the one that was told", who, ch.Old.Path)
			}
			delete(mine, ch.Old.Path)
		}
	}
	return zxid, mine
}

func values(m map[string]cache.Node) (list []cache.Node) {
	for _, n := range m {
		list = append(list, n)
	}
	return list
}

// look reads the whole cache now and then.
func (w *world) look(ctx context.Context, c *cache.Cache) {
	told := int64(0)
	for ctx.Err() == nil {
		if before := c.Zxid(); before != told {
			all := slices.Collect(c.All())
			if c.Zxid() == before {
				w.observe("looker", before, all)
				told = before
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// check compares everything that was seen with what there was.
func (w *world) check(last int64) {
	newest := map[string]int64{}
	steps := map[int64]struct{}{}
	for _, s := range w.seen {
		i := sort.Search(len(w.past), func(i int) bool { return w.past[i].zxid > s.zxid })
		require.Equal(w, w.past[i-1].tree, s.tree, "%s saw zxid %d, which was made at %d", s.who, s.zxid, w.past[i-1].zxid)
		require.GreaterOrEqual(w, s.zxid, newest[s.who], "%s saw the cache go back", s.who)
		newest[s.who] = s.zxid
		steps[s.zxid] = struct{}{}
	}
	require.Greater(w, len(steps), 1, "the cache took no step")
	allSteps += len(steps)
	require.GreaterOrEqual(w, newest["last"], last)
}
