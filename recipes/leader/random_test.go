package leader_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

var leaderSeeds = recipetest.SeedFlags("leader", 100)

// For half an hour of virtual time, five candidates stand, lead, resign, hand
// over, end and begin again, or die. Random faults happen to them and to the
// servers. Then the faults stop. Seeds take turns with the recipe and with the
// clients' error policy, and a quarter of them has an ensemble of three. The
// comment of election lists the checks.
//
// Promise: A selector keeps its node until its work has returned.
// Promise: A leader notices that its node was deleted.
// Promise: At most one candidate leads at a time, and tokens grow from leader to leader.
func TestOneLeaderUnderRandomFaults(t *testing.T) {
	t.Parallel()
	leaderSeeds.Each(t, func(t *testing.T, seed uint64) {
		synctest.Test(t, func(t *testing.T) {
			e := newElection(t, seed)
			defer func() { recipetest.LogEvents(t, e.servers[0]) }()
			e.run()
		})
	})
}

// candidates is the number of candidates in an election.
const candidates = 5

// electionSession is the session timeout of the candidates.
const electionSession = 30 * time.Second

// election is one run of the simulation. It checks:
//
//  1. When a candidate begins to lead, the context of every earlier leader has
//     ended, whatever happens to connections and servers. That includes servers
//     that lag, or are cut off from their ensemble: for those, the clients have
//     framework.WithStrictContact. It does not include clocks that run too fast
//     and processes that stop. There is one exception: an operator deletes a
//     candidate's node, or ends its session before its time. That candidate may
//     lead, or begin to lead, until it learns of that. noticeBound says when it
//     does.
//  2. A selector's work that goes on after the end of its context keeps
//     others from leading, and so does a latch's after the loss of its session,
//     within the safety margin. It does so as long as its session lives and its
//     node is not deleted.
//  3. Tokens grow from leadership to leadership. A leader that was only
//     interrupted goes on with the same node.
//  4. When the faults have stopped, one candidate leads within a bounded time,
//     and no other.
//  5. When all candidates have ended, there is no node and no watch.
type election struct {
	*testing.T
	seed    uint64
	policy  state.ErrorPolicy
	servers []*zktest.Server
	ens     *zktest.Ensemble // nil if there is one server
	path    string
	// stand is the recipe's way to stand.
	stand  func(c *candidate, client *framework.Client, life context.Context) bool
	awaits bool // the recipe waits until its leader's work ends

	deletions recipetest.Deletions // by operators

	churn context.Context // ends when candidates stop coming and going
	over  context.Context // ends when all candidates stop

	mu          sync.Mutex    // protects the following fields
	leaderships []*leadership // in the order of their beginnings
}

func newElection(t *testing.T, seed uint64) *election {
	e := &election{T: t, seed: seed, path: "/elections/latch", stand: (*candidate).standWithLatch}
	e.policy = state.SessionPolicy
	if seed%2 == 1 {
		e.path, e.stand, e.awaits = "/elections/selector", (*candidate).standWithSelector, true
	}
	if seed%4 >= 2 {
		e.policy = state.StandardPolicy
	}
	if seed/4%4 == 3 {
		// This tick and this sync limit are common.
		e.ens = zktest.StartEnsemble(t, 3, zkinside.With(zkinside.Settings{Tick: time.Second, SyncLimit: 10}).(zktest.Option),
			e.faults(zktest.Disruption{Kind: "resign"}, zktest.Disruption{Kind: "lag", Lag: 3 * time.Second, For: electionSession},
				zktest.Disruption{Kind: "partition", For: electionSession / 2}, zktest.Disruption{Kind: "partition", For: 2 * electionSession}))
		for _, m := range e.ens.Members() {
			e.servers = append(e.servers, m.Server)
		}
		return e
	}
	e.servers = []*zktest.Server{zktest.Start(t, e.faults())}
	return e
}

// faults returns an option of a server: the usual faults, and more.
func (e *election) faults(more ...zktest.Disruption) zktest.Option {
	const long = 2 * electionSession
	return zktest.WithChaos(zktest.ChaosPlan{
		Seed: e.seed,
		Faults: []zktest.Rule{
			{Chance: 0.005, Do: zktest.DropRequest()},
			{Chance: 0.005, Do: zktest.DropReply()},
			{Chance: 0.002, Do: zktest.Blackhole()},
			{Chance: 0.002, Do: zktest.BlackholeReply()},
			{Chance: 0.01, Do: zktest.DelayReply(3 * time.Second)},
			{Chance: 0.1, Op: zktest.OpDelete, Do: zktest.DelayReply(time.Second)},
		},
		Every: 30 * time.Second,
		Disruptions: append(more,
			zktest.Disruption{Kind: "cut"}, zktest.Disruption{Kind: "cut"}, zktest.Disruption{Kind: "replace"}, zktest.Disruption{Kind: "reap"},
			zktest.Disruption{Kind: "stop", For: long}, zktest.Disruption{Kind: "pause", For: long}, zktest.Disruption{Kind: "blackhole", For: long}, zktest.Disruption{Kind: "refuse", For: long},
			zktest.Disruption{Kind: "pause_session", For: long}, zktest.Disruption{Kind: "pause_session", For: electionSession / 2},
			zktest.Disruption{Kind: "end a session before its time", Do: e.expireSomeone},
			zktest.Disruption{Kind: "delete someone's node", Do: e.deleteSomeone},
			zktest.Disruption{Kind: "delete the leader's node", Do: func(*rand.Rand) { e.deleteLeader() }},
			zktest.Disruption{Kind: "delete everything", Do: func(*rand.Rand) { e.deleteAll() }},
			zktest.Disruption{Kind: "revoke", Do: func(*rand.Rand) { e.revoke() }},
		),
	})
}

func (e *election) run() {
	churn, stopChurn := context.WithTimeout(e.Context(), 30*time.Minute-longestCandidacy)
	defer stopChurn()
	over, stop := context.WithCancel(e.Context())
	e.churn, e.over = churn, over
	var all sync.WaitGroup
	defer all.Wait() // waits even if a check fails
	defer stop()
	for i := range candidates {
		c := &candidate{election: e, name: fmt.Sprintf("candidate-%d", i), rng: rand.New(rand.NewPCG(e.seed, uint64(i)))}
		all.Go(c.live)
		time.Sleep(10 * time.Millisecond)
	}
	<-churn.Done()
	time.Sleep(longestCandidacy)
	e.stopFaults()
	e.expectLeader()
	stop()
	all.Wait()
	e.nothingLeft()
	require.Greater(e, len(e.leaderships), 2*candidates, "the half hour was too quiet to show anything")
}

func (e *election) stopFaults() {
	if e.ens != nil {
		e.ens.Members()[0].StopFaults()
		return
	}
	e.servers[0].StopFaults()
}

// expectLeader waits until a candidate leads, and checks that it goes on
// leading.
func (e *election) expectLeader() {
	const bound = 2*electionSession + candidates*longestWindDown
	start := time.Now()
	for leaders := e.leaders(); len(leaders) == 0; leaders = e.leaders() {
		if time.Since(start) > bound {
			e.Errorf("nobody leads %v after the last fault: %v", bound, e.newest().Queue(e.path))
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(bound) // a leader that an operator has asked to step down does so meanwhile
	first := e.leaders()
	time.Sleep(bound)
	require.Len(e, first, 1)
	require.Equal(e, first, e.leaders())
}

func (e *election) leaders() (alive []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.leaderships {
		if l.lease.Context().Err() == nil {
			alive = append(alive, l.who+" "+l.lease.Path())
		}
	}
	return alive
}

func (e *election) nothingLeft() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.Context()), time.Minute)
	defer cancel()
	for _, s := range e.servers {
		require.NoError(e, s.WaitChildren(ctx, e.path, 0), "%v", s.Children(e.path))
		require.NoError(e, s.WaitFor(ctx, func() bool { return len(s.Watches()) == 0 }), "%v", s.Watches())
		require.NoError(e, s.WaitFor(ctx, func() bool { return len(s.Sessions()) == 0 }))
	}
}

// newest returns the server with the newest state: the ensemble's leader, if
// there is one.
func (e *election) newest() *zktest.Server {
	if e.ens != nil {
		if m := e.ens.Leader(); m != nil {
			return m.Server
		}
	}
	return e.servers[0]
}

// deleteSomeone deletes the node of a random candidate.
func (e *election) deleteSomeone(rng *rand.Rand) {
	e.delete(func(queue []zktest.Node) []zktest.Node {
		i := rng.IntN(len(queue))
		return queue[i : i+1]
	}, e.deleteFirst)
}

func (e *election) deleteLeader() {
	e.delete(func(queue []zktest.Node) []zktest.Node { return queue[:1] }, e.deleteFirst)
}

func (e *election) deleteFirst(nodes []zktest.Node) bool {
	return e.newest().Delete(nodes[0].Path) == nil
}

// deleteAll deletes all nodes of the queue, and the path.
func (e *election) deleteAll() {
	e.delete(func(queue []zktest.Node) []zktest.Node { return queue },
		func([]zktest.Node) bool { return e.newest().Delete(e.path) == nil })
}

// expireSomeone ends the session of a random candidate in the queue.
func (e *election) expireSomeone(rng *rand.Rand) {
	e.delete(func(queue []zktest.Node) []zktest.Node {
		session := queue[rng.IntN(len(queue))].Stat.EphemeralOwner
		return slices.DeleteFunc(queue, func(n zktest.Node) bool { return n.Stat.EphemeralOwner != session })
	}, func(nodes []zktest.Node) bool {
		return e.newest().Session(nodes[0].Stat.EphemeralOwner).Expire()
	})
}

// delete chooses nodes of the queue, and calls a function that deletes them.
func (e *election) delete(choose func(queue []zktest.Node) []zktest.Node, remove func([]zktest.Node) bool) {
	list := func() []zktest.Node {
		if queue := e.newest().Queue(e.path); len(queue) > 0 {
			return choose(queue)
		}
		return nil
	}
	e.deletions.Delete(e.newest(), list, remove)
}

// revoke asks the leader to step down.
func (e *election) revoke() {
	if queue := e.newest().Queue(e.path); len(queue) > 0 {
		_ = e.newest().Set(queue[0].Path, []byte("__REVOKE__"))
	}
}
