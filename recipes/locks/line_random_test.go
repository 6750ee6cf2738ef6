package locks_test

import (
	"cmp"
	"context"
	"fmt"
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
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

var lineSeeds = recipetest.SeedFlags("line", 2500)

// Goroutines of three clients use one lock in every way, through objects with
// different options. Storms of faults and calms take turns. The comment of oracle
// lists what is checked meanwhile. In the end all faults stop and every holder
// releases at once:
//
//   - All waiters get the lock within recoveryBound, and the minimum holds of those
//     ahead.
//   - No node and no watch is left, and a new client gets the lock by a try.
//
// Seeds take turns with the kind of lock, with the error policy, and with the number
// of servers.
//
// Promise: At most one lease of a mutex has a live context.
// Promise: Readers and writers of one client keep the order in which they arrive.
// Promise: Readers that share a node do not starve a writer.
// Promise: Readers continue when the writer ahead of them in the process gives up.
func TestOrderAndLivenessUnderRandomFaults(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	all := map[string]int{}
	t.Run("all", func(t *testing.T) {
		lineSeeds.Each(t, func(t *testing.T, seed uint64) {
			synctest.Test(t, func(t *testing.T) {
				w := newWeather(t, seed)
				defer w.explain()
				w.run()
				mu.Lock()
				defer mu.Unlock()
				for what, n := range w.oracle.tally {
					all[what] += n
				}
			})
		})
	})
	t.Log(all)
	for _, what := range []string{"reused", "refused", "downgraded", "lost", "in order", "passed"} {
		if !t.Failed() && lineSeeds.Count() >= 10 {
			require.Positive(t, all[what], "%s: too little has happened to show anything", what)
		}
	}
}

// lockPath is the path of the lock of all runs.
const lockPath = "/l"

// weather is one run of the simulation.
type weather struct {
	*testing.T
	seed     uint64
	policy   state.ErrorPolicy
	rng      *rand.Rand // of the goroutine that calls run
	ens      *zktest.Ensemble
	oracle   *oracle
	machines []*machine
	acquires int
	reads    int            // of eight acquires of a read/write lock
	history  []string       // protected by oracle.mu
	all      sync.WaitGroup // calls that are under way
}

func newWeather(t *testing.T, seed uint64) *weather {
	w := &weather{T: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 0))}
	w.policy = []state.ErrorPolicy{state.SessionPolicy, state.StandardPolicy}[seed/2%2]
	w.reads = 3 + w.rng.IntN(5)
	w.ens = zktest.StartEnsemble(t, []int{1, 1, 3}[seed%3])
	w.oracle = &oracle{
		logf: w.log, errf: t.Errorf, path: lockPath, head: w.head, nodes: map[string]*turns{},
		deleted: map[string]bool{}, revoked: map[string]bool{}, expired: map[int]time.Time{}, unseated: map[int]bool{},
		tally: map[string]int{},
	}
	for range 3 {
		w.join(seed%2 == 0)
	}
	return w
}

// head returns a server that has all that was committed. No more than one lags.
func (w *weather) head() *zktest.Server {
	byZxid := func(a, b *zktest.Member) int { return cmp.Compare(a.Stats().Zxid, b.Stats().Zxid) }
	return slices.MaxFunc(w.ens.Members(), byZxid).Server
}

func (w *weather) connect() (*framework.Client, *zktest.Host) {
	host := w.ens.NewHost()
	c, err := framework.Connect(recipetest.Within(w.T, time.Minute), w.ens.ConnectString(),
		framework.WithDialer(host.Dialer()), framework.WithSessionTimeout(oracleSession),
		framework.WithErrorPolicy(w.policy))
	require.NoError(w, err)
	w.Cleanup(func() { c.Close() })
	return c, host
}

// join adds a machine that uses the lock with some of the options.
func (w *weather) join(readWrite bool) {
	policies := mutexPolicies
	if readWrite {
		policies = readWritePolicies
	}
	c, host := w.connect()
	m := &machine{Client: c, host: host}
	var allowed policy
	for _, i := range w.rng.Perm(len(policies))[:1+w.rng.IntN(2)] {
		of := policies[i]
		allowed.allow(of)
		m.objects = append(m.objects, newObject(c, of, readWrite))
		if of.handOvers == 0 { // otherwise only the goroutines of one object share a line
			m.objects = append(m.objects, newObject(c, of, readWrite))
		}
	}
	w.machines, w.oracle.clients = append(w.machines, m), append(w.oracle.clients, allowed)
}

func (w *weather) run() {
	for range 2 {
		w.calm()
		w.storm()
		w.recover()
	}
	w.calm()
	if w.rng.IntN(2) == 0 {
		w.storm()
	}
	w.end()
}

// calm makes one step after the other. Each begins when the one before has settled.
func (w *weather) calm() {
	w.oracle.setCalm(true)
	defer w.oracle.setCalm(false)
	for range 60 {
		w.step(false)
		w.settle()
		switch w.rng.IntN(10) {
		case 0:
			time.Sleep(w.upTo(3 * time.Second))
		case 1, 2, 3:
			time.Sleep(w.upTo(300 * time.Millisecond))
		}
	}
}

// settle waits until all goroutines are idle, and checks that no waiter could go on.
func (w *weather) settle() {
	synctest.Wait()
	if h := w.oracle.lostInCalm(); h != nil {
		w.oracle.fail("%v has lost its lock: %v", h, context.Cause(h.lease.Context()))
	}
	w.releaseLost()
	synctest.Wait()
	w.oracle.settled()
	if w.oracle.stuck() == nil {
		return
	}
	time.Sleep(wakeBound)
	synctest.Wait()
	w.releaseLost()
	synctest.Wait()
	if s := w.oracle.stuck(); s != nil {
		w.oracle.fail("%v waits although the lock is free, with %v at the server", s, w.head().Children(lockPath))
	}
}

func (w *weather) storm() {
	const short, long = time.Second, 12 * time.Second
	plan := zktest.ChaosPlan{
		Seed: w.seed,
		Faults: []zktest.Rule{
			{Chance: 0.02, Do: zktest.DropRequest()},
			{Chance: 0.02, Do: zktest.DropReply()},
			{Chance: 0.004, Do: zktest.Blackhole()},
			{Chance: 0.004, Do: zktest.BlackholeReply()},
			{Chance: 0.03, Do: zktest.DelayReply(short)},
			{Chance: 0.03, Do: zktest.DelayRequest(2 * short)},
		},
		Every: 3 * time.Second,
		Disruptions: []zktest.Disruption{
			{Kind: "cut"}, {Kind: "cut"}, {Kind: "refuse", For: 2 * short}, {Kind: "stop", For: short},
			{Kind: "blackhole", For: long}, {Kind: "pause_session", For: long},
			{Kind: "a machine loses its session", Do: func(rng *rand.Rand) {
				w.machines[rng.IntN(len(w.machines))].host.LoseSessions()
			}},
		},
	}
	if all := w.ens.Members(); len(all) > 1 {
		plan.Disruptions = append(plan.Disruptions, zktest.Disruption{Kind: "a server lags", Do: func(rng *rand.Rand) {
			all[0].Lag(time.Duration(rng.Int64N(int64(long))))
		}})
		defer all[0].Lag(0)
	}
	require.NoError(w, zkinside.Of(w.ens).StartFaults(plan))
	for range 40 {
		w.step(true)
		time.Sleep(w.upTo(1500 * time.Millisecond))
		w.releaseLost()
	}
	w.ens.Members()[0].StopFaults()
	for _, m := range w.machines {
		m.host.Heal()
	}
}

// recover waits until the clients have noticed what a storm has done. A client may
// learn only from its next request that its session has moved to another server.
func (w *weather) recover() {
	for range int(recoveryBound / time.Second) {
		time.Sleep(time.Second)
		w.releaseLost()
	}
	for _, m := range w.machines {
		require.NoError(w, m.Sync(recipetest.Within(w.T, recoveryBound), lockPath))
	}
}

// end releases every lock, and checks what is left.
func (w *weather) end() {
	w.oracle.mu.Lock()
	w.oracle.ending = true
	holding := slices.Clone(w.oracle.holding)
	bound := recoveryBound
	for _, c := range slices.Concat(w.oracle.waiting, holding) {
		bound += c.of.minimum
	}
	w.oracle.mu.Unlock()
	for _, h := range holding {
		w.release(h, time.Minute)
	}
	time.Sleep(bound)
	synctest.Wait()
	for _, left := range w.oracle.waiters() {
		w.oracle.fail("%v has not got the lock after %v, with %v at the server", left, bound, w.head().Children(lockPath))
		left.cancel()
	}
	w.all.Wait()
	time.Sleep(5 * time.Second) // locks that are cached, or kept
	synctest.Wait()
	require.Empty(w, w.head().Children(lockPath))
	for _, m := range w.ens.Members() {
		require.Empty(w, m.Watches())
	}
	c, _ := w.connect()
	fresh := newObject(c, &policy{}, w.machines[0].objects[0].rw != nil)
	lease, err := fresh.side(false).TryAcquire(recipetest.Within(w.T, time.Second))
	require.NoError(w, err)
	require.NoError(w, lease.Release(w.Context()))
}

// step makes one call at random.
func (w *weather) step(inStorm bool) {
	switch n := w.rng.IntN(100); {
	case n < 42:
		w.acquire()
	case n < 74:
		if h := w.anyHolder(); h != nil {
			w.release(h, w.upTo(5*time.Second))
		}
	case n < 80:
		w.giveUp()
	case n < 86:
		w.reenter()
	case n < 94:
		w.downgrade()
	case n < 97:
		w.revoke()
	case inStorm && n < 99:
		w.deleteNode()
	case inStorm:
		w.expire()
	}
}

func (w *weather) upTo(d time.Duration) time.Duration { return time.Duration(w.rng.Int64N(int64(d))) }

// acquire begins an acquire, or a try.
func (w *weather) acquire() {
	w.oracle.mu.Lock()
	crowded := len(w.oracle.waiting) > 12
	w.oracle.mu.Unlock()
	if crowded {
		return
	}
	client := w.rng.IntN(len(w.machines))
	m := w.machines[client]
	object := &m.objects[w.rng.IntN(len(m.objects))]
	c := &contender{client: client, of: object.of, side: object.side}
	c.read = object.rw != nil && w.rng.IntN(8) < w.reads
	lock, isFree := object.side(c.read), false
	acquire := lock.Acquire
	var deadline time.Duration // none
	switch w.rng.IntN(8) {
	case 0:
		c.try, acquire, deadline = true, lock.TryAcquire, 10*time.Second
		isFree = w.oracle.isFree()
	case 1, 2:
		deadline = w.upTo(10 * time.Second)
	}
	w.begin(c, deadline, acquire, isFree)
}

// begin begins an acquire. It must succeed if it is a try of a free lock.
func (w *weather) begin(
	c *contender, deadline time.Duration, acquire func(context.Context) (*locks.Lease, error), isFree bool,
) {
	base := context.WithoutCancel(w.Context())
	if c.under != nil {
		base = c.under.lease.Context()
	}
	if deadline == 0 {
		c.ctx, c.cancel = context.WithCancel(base)
	} else {
		c.ctx, c.cancel = context.WithTimeout(base, deadline)
	}
	w.acquires++
	c.id = w.acquires
	w.oracle.begins(c)
	w.all.Go(func() {
		lease, err := acquire(c.ctx)
		ending := w.oracle.ended(c, lease, err)
		if isFree && err != nil {
			w.oracle.fail("%v fails, though the lock is free: %v", c, err)
		}
		if c.under != nil {
			w.release(c.under, time.Second)
		}
		if err == nil && ending {
			w.release(c, time.Minute)
		}
	})
}

// release releases a lease, unless another call has released it. The context of the
// release ends after the limit.
func (w *weather) release(h *contender, limit time.Duration) {
	if !w.oracle.releases(h) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.Context()), limit)
	w.all.Go(func() {
		defer cancel()
		defer h.cancel()
		wasLive, calm := h.isLive(), w.oracle.isCalm()
		err := h.lease.Release(ctx)
		if end, _ := ctx.Deadline(); time.Since(end) > returnBound {
			w.oracle.fail("the release of %v has gone on for %v after its deadline", h, time.Since(end))
		}
		if wasLive && calm && err != nil {
			w.oracle.fail("the release of %v: %v", h, err)
		}
	})
}

// releaseLost releases the leases that are lost.
func (w *weather) releaseLost() {
	for _, h := range w.oracle.holders() {
		if !h.isLive() {
			w.release(h, time.Second)
		}
	}
}

// anyHolder returns a holder whose lease is alive, or nil.
func (w *weather) anyHolder() *contender {
	holders := slices.DeleteFunc(w.oracle.holders(), func(h *contender) bool { return !h.isLive() })
	if len(holders) == 0 {
		return nil
	}
	return holders[w.rng.IntN(len(holders))]
}

// giveUp cancels a waiter.
func (w *weather) giveUp() {
	w.oracle.mu.Lock()
	defer w.oracle.mu.Unlock()
	if n := len(w.oracle.waiting); n > 0 {
		w.oracle.waiting[w.rng.IntN(n)].cancel()
	}
}

// reenter takes and releases a lock that is held.
func (w *weather) reenter() {
	h := w.anyHolder()
	if h == nil {
		return
	}
	began := time.Now()
	again, err := h.side(h.read).Acquire(h.lease.Context())
	switch {
	case !h.isLive():
	case err != nil:
		w.oracle.fail("%v cannot re-enter: %v", h, err)
	case again.FencingToken() != h.lease.FencingToken(), time.Since(began) > 0:
		w.oracle.fail("%v re-enters after %v with token %#x", h, time.Since(began), again.FencingToken())
	}
	if err != nil {
		return
	}
	if err := again.Release(w.Context()); err != nil && h.isLive() {
		w.oracle.fail("%v leaves: %v", h, err)
	}
}

// downgrade makes a writer a reader.
func (w *weather) downgrade() {
	h := w.anyHolder()
	if h == nil || h.read || w.machines[h.client].objects[0].rw == nil || !w.oracle.takes(h) {
		return
	}
	c := &contender{client: h.client, of: h.of, side: h.side, read: true, under: h}
	w.begin(c, 0, c.side(true).Acquire, false)
}

// revoke asks a holder to give the lock up.
func (w *weather) revoke() {
	h := w.anyHolder()
	if h == nil {
		return
	}
	path := h.lease.Path()
	w.oracle.operates(path, func() { w.oracle.revoked[path] = true })
	c, calm := w.machines[w.rng.IntN(len(w.machines))].Client, w.oracle.isCalm()
	w.all.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(w.Context()), time.Minute)
		defer cancel()
		err := locks.Revoke(ctx, c, path)
		if time.Sleep(wakeBound); calm && err == nil && h.of.revocable && h.isLive() {
			w.oracle.fail("%v has not learned that a client asks for the lock", h)
		}
	})
}

// deleteNode is what an operator does who takes a node for a leftover.
func (w *weather) deleteNode() {
	head := w.head()
	nodes := head.Queue(lockPath)
	if len(nodes) == 0 {
		return
	}
	node := nodes[w.rng.IntN(len(nodes))]
	owner := slices.IndexFunc(w.machines, func(m *machine) bool { return m.SessionID() == node.Stat.EphemeralOwner })
	w.oracle.operates(node.Path, func() { w.oracle.deleted[node.Path], w.oracle.unseated[owner] = true, true })
	if head.Delete(node.Path) != nil { // the server is stopped
		w.oracle.operates(node.Path, func() { delete(w.oracle.deleted, node.Path) })
	}
}

// expire ends a session before its time, which its client cannot foresee.
func (w *weather) expire() {
	client := w.rng.IntN(len(w.machines))
	w.oracle.operates(client, func() { w.oracle.expired[client] = time.Now() })
	w.ens.Session(w.machines[client].SessionID()).Expire()
}

func (w *weather) log(format string, args ...any) {
	w.history = append(w.history, time.Now().Format("04:05.000000 ")+fmt.Sprintf(format, args...))
}

func (w *weather) explain() {
	recipetest.LogEvents(w.T, w.ens)
	if w.Failed() {
		w.Log(strings.Join(w.history, "\n"))
		for _, m := range w.ens.Members() {
			w.Log(m.Dump())
		}
	}
}
