package shared_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/zktest"
)

var sharedSeeds = recipetest.SeedFlags("shared", 200)

// Twenty writers of four clients set, try to set, and read a count, on one
// server or on an ensemble whose members lag behind. In some of the seeds, an
// operator deletes the node now and then. Random faults happen meanwhile:
//
//  1. The history of all calls is linearizable. Calls whose outcome is unknown
//     have been applied once, at any time after their beginning, or never. No
//     call is applied twice, except the creation of a seed, after a deletion.
//  2. The value that a client has in memory never goes back.
//  3. When the faults have stopped, all clients have what the server has.
//  4. When the counts are closed, there is no watch.
func TestHistoriesUnderRandomFaultsAreLinearizable(t *testing.T) {
	var all tally
	sharedSeeds.InTurn(t, func(t *testing.T, seed uint64) {
		var w *writers
		synctest.Test(t, func(t *testing.T) {
			w = newWriters(t, seed)
			defer w.explain()
			w.run()
		})
		w.history.check(t) // in real time, which is for its time limit
		all.add(w.tally)
	})
	t.Logf("%+v", all)
	if t.Failed() {
		return // no seed came after that
	}
	require.Positive(t, min(all.reads, all.won, all.lost), "too little was told to show anything")
	if seeds := sharedSeeds.Count(); sharedSeeds.All() { // few seeds may be far from the average
		require.Greater(t, all.won, 10*seeds)
		require.Greater(t, all.lost, 5*seeds)
		require.Greater(t, all.unknown, seeds/5)
	}
}

// tally counts what writers were told.
type tally struct{ reads, sets, won, lost, unknown, failed int }

func (t *tally) add(u tally) {
	t.reads += u.reads
	t.sets += u.sets
	t.won += u.won
	t.lost += u.lost
	t.unknown += u.unknown
	t.failed += u.failed
}

// writers are one run of the simulation.
type writers struct {
	*testing.T
	seed    uint64
	ens     *zktest.Ensemble
	srv     *zktest.Server
	deletes bool // an operator deletes the node
	history history

	mu    sync.Mutex // protects the following field
	tally tally
}

const (
	clientsOfARun    = 4
	writersOfAClient = 5
	callsOfAWriter   = 8
)

func newWriters(t *testing.T, seed uint64) *writers {
	w := &writers{T: t, seed: seed, deletes: seed%3 == 1}
	const short, long = time.Second, 12 * time.Second
	random := zktest.ChaosPlan{
		Seed: seed,
		Faults: []zktest.Rule{
			{Chance: 0.01, Do: zktest.DropRequest()},
			{Chance: 0.01, Do: zktest.DropReply()},
			{Chance: 0.01, Op: zktest.OpMulti, Do: zktest.DropReply()},
			{Chance: 0.003, Do: zktest.Blackhole()},
			{Chance: 0.003, Do: zktest.BlackholeReply()},
			{Chance: 0.02, Do: zktest.DelayReply(500 * time.Millisecond)},
			{Chance: 0.01, Do: zktest.DelayRequest(2 * time.Second)},
			{Chance: 0.01, Op: zktest.OpMulti, Do: zktest.DelayRequest(20 * time.Second)},
		},
		Every: 5 * time.Second,
		Disruptions: []zktest.Disruption{
			{Kind: "cut"}, {Kind: "cut"}, {Kind: "replace"}, {Kind: "expire"},
			{Kind: "stop", For: short}, {Kind: "stop", For: long}, {Kind: "pause", For: short}, {Kind: "blackhole", For: long},
			{Kind: "pause_session", For: long},
		},
	}
	if seed%4 != 3 {
		w.srv = zktest.Start(t, zktest.WithChaos(random))
		w.record(w.srv.Inject)
		return w
	}
	random.Disruptions = append(random.Disruptions, zktest.Disruption{Kind: "resign"})
	w.ens = zktest.StartEnsemble(t, 3, zktest.WithChaos(random))
	w.record(w.ens.Inject)
	return w
}

// record notes each write that was applied.
func (w *writers) record(inject func(zktest.Rule) *zktest.Injection) {
	note := zktest.CallAfter(func(r zktest.Request) {
		for _, s := range w.servers() {
			node, there := s.Node("/n")
			if !there || node.Stat.Mzxid != r.Zxid { // it lags behind, or the transaction was refused
				continue
			}
			w.history.wrote(register{true, int32(binary.BigEndian.Uint32(node.Data)), r.Zxid, node.Stat.Czxid})
			return
		}
	})
	for _, op := range []zktest.Op{zktest.OpMulti, zktest.OpCreate} {
		inject(zktest.Rule{Optional: true, Op: op, Path: "/n", Times: -1, Do: note})
	}
}

func (w *writers) connect() *framework.Client {
	opts := []framework.Option{framework.WithSessionTimeout(6 * time.Second)}
	var servers string
	if w.ens != nil {
		servers, opts = w.ens.ConnectString(), append(opts, framework.WithDialer(w.ens.Dialer()))
	} else {
		servers, opts = w.srv.Addr(), append(opts, framework.WithDialer(w.srv.Dialer()))
	}
	c, err := framework.New(servers, opts...)
	require.NoError(w, err)
	return c
}

func (w *writers) run() {
	var counts []*shared.Count
	var all, lookers sync.WaitGroup
	looking, stop := context.WithCancel(w.Context())
	defer stop()
	for i := range clientsOfARun {
		c := w.connect()
		defer c.Close()
		seed := -int32(i + 1)
		w.history.end(-1, w.history.begin(), call{kind: "seed", value: seed}, answer{unknown: true})
		n, err := shared.NewCount(c, "/n", seed)
		require.NoError(w, err)
		defer n.Close()
		counts = append(counts, n)
		lookers.Go(func() { w.follow(looking, n) })
		for j := range writersOfAClient {
			writer := &writer{
				writers: w, id: i*writersOfAClient + j, n: n,
				rng: rand.New(rand.NewPCG(w.seed, uint64(i*writersOfAClient+j))),
			}
			all.Go(writer.work)
		}
	}
	if w.deletes {
		all.Go(w.operate)
	}
	all.Wait()
	w.calm()
	time.Sleep(time.Minute)
	w.checkAll(counts)
	stop()
	lookers.Wait()
	for _, n := range counts {
		require.NoError(w, n.Close())
	}
	w.nothingLeft()
}

func (w *writers) calm() {
	if w.ens != nil {
		w.ens.Members()[0].StopFaults()
		return
	}
	w.srv.StopFaults()
}

// head returns a server that has all that was committed, or nil at present.
func (w *writers) head() *zktest.Server {
	if w.ens == nil {
		return w.srv
	}
	if leader := w.ens.Leader(); leader != nil {
		return leader.Server
	}
	return nil
}

func (w *writers) servers() (all []*zktest.Server) {
	if w.ens == nil {
		return []*zktest.Server{w.srv}
	}
	for _, m := range w.ens.Members() {
		all = append(all, m.Server)
	}
	return all
}

// operate deletes the node now and then. Somebody's TrySet or Set creates it
// again.
func (w *writers) operate() {
	rng := rand.New(rand.NewPCG(w.seed, 1000))
	for range 6 {
		time.Sleep(time.Duration(rng.IntN(10_000)) * time.Millisecond)
		begun := w.history.begin()
		if head := w.head(); head != nil && head.Delete("/n") == nil {
			w.history.end(-1, begun, call{kind: "delete"}, answer{})
		}
	}
}

// follow checks that what a client has in memory does not go back.
func (w *writers) follow(ctx context.Context, n *shared.Count) {
	var last int64
	for now, err := range n.Changes(ctx) {
		if err != nil {
			w.Error(err)
			return
		}
		if now.Exists && now.Mzxid <= last {
			w.Errorf("a client has gone back from %#x to %#x", last, now.Mzxid)
		}
		last = max(last, now.Mzxid)
		time.Sleep(50 * time.Millisecond)
	}
}

func (w *writers) checkAll(counts []*shared.Count) {
	head := w.head()
	node, there := head.Node("/n")
	for _, n := range counts {
		now, err := n.Get()
		require.NoError(w, err)
		require.Equal(w, there, now.Exists)
		require.Equal(w, node.Stat.Mzxid, now.Mzxid)
		require.Equal(w, node.Stat.Version, now.Version)
	}
}

func (w *writers) nothingLeft() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.Context()), time.Minute)
	defer cancel()
	for _, s := range w.servers() {
		require.NoError(w, s.WaitFor(ctx, func() bool { return len(s.Watches()) == 0 }), "%v", s.Watches())
	}
}

func (w *writers) explain() {
	if w.ens != nil {
		recipetest.LogEvents(w, w.ens)
	} else {
		recipetest.LogEvents(w, w.srv)
	}
}

// writer is one of those who call a client's count.
type writer struct {
	*writers
	id  int
	n   *shared.Count
	rng *rand.Rand
}

// work makes calls. In between it pauses, so that others do as well.
func (w *writer) work() {
	var known shared.Versioned[int32]
	for i := range callsOfAWriter {
		ctx, cancel := context.WithTimeout(w.Context(), time.Duration(1+w.rng.IntN(20))*time.Second)
		value := int32(1 + w.id*callsOfAWriter + i)
		switch w.rng.IntN(8) {
		case 0:
			w.set(ctx, value)
		case 1, 2:
			known = w.read(ctx, known)
		case 3:
			if now, err := w.n.Get(); err == nil {
				known = now
			}
			fallthrough
		default:
			known = w.try(ctx, known, value)
		}
		cancel()
		time.Sleep(time.Duration(w.rng.IntN(2000)) * time.Millisecond)
	}
}

// ended notes a call that has ended, unless it certainly has done nothing.
func (w *writer) ended(begun int64, c call, a answer, err error, count func(*tally)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case errors.Is(err, framework.ErrOutcomeUnknown):
		a = answer{unknown: true}
		w.tally.unknown++
	case errors.Is(err, shared.ErrNodeReplaced):
		a.over = true
		count(&w.tally)
	case err != nil:
		w.tally.failed++
		return
	default:
		count(&w.tally)
	}
	w.history.end(w.id, begun, c, a)
}

func (w *writer) set(ctx context.Context, value int32) {
	begun := w.history.begin()
	now, err := w.n.SetVersioned(ctx, value)
	w.ended(begun, call{kind: "set", value: value}, answer{seen: registerOf(now)}, err, func(t *tally) { t.sets++ })
}

func (w *writer) read(ctx context.Context, known shared.Versioned[int32]) shared.Versioned[int32] {
	begun := w.history.begin()
	now, err := w.n.Refresh(ctx)
	w.ended(begun, call{kind: "read"}, answer{seen: registerOf(now)}, err, func(t *tally) { t.reads++ })
	if err != nil {
		return known
	}
	return now
}

func (w *writer) try(ctx context.Context, known shared.Versioned[int32], value int32) shared.Versioned[int32] {
	begun := w.history.begin()
	now, ok, err := w.n.TrySet(ctx, known, value)
	w.ended(begun, call{"try", registerOf(known), value}, answer{ok: ok, seen: registerOf(now)}, err, func(t *tally) {
		if ok {
			t.won++
		} else {
			t.lost++
		}
	})
	if err != nil && !ok {
		return known
	}
	return now
}
