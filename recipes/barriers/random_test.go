package barriers_test

import (
	"context"
	"errors"
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
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

var barrierSeeds = recipetest.SeedFlags("barrier", 200)

// For some minutes of virtual time, clients enter a double barrier and leave it
// again, and give up at times. Random faults happen to them and to the server.
// Then the faults stop, and n of them enter once more. The comment of rendezvous
// lists the checks.
func TestBarriersUnderRandomFaults(t *testing.T) {
	barrierSeeds.Each(t, func(t *testing.T, seed uint64) {
		synctest.Test(t, func(t *testing.T) {
			r := newRendezvous(t, seed)
			defer r.explain()
			r.run()
		})
	})
}

const (
	faultyMinutes    = 2
	barrierSession   = 10 * time.Second
	rendezvousPath   = "/r/b"
	mostParticipants = 6
)

// rendezvous is one run of the simulation. It checks this:
//
//   - No call goes on after its context has ended.
//   - When Leave returns nil, no member is inside that was when Leave was called.
//   - A barrier of another path, which some client raises and lowers, holds
//     nobody up who has no reason to wait.
//   - When the faults have stopped, the barrier opens for those who come then.
//   - When all have left, there is no node and no watch.
type rendezvous struct {
	*testing.T
	srv     *zktest.Server
	seed    uint64
	n       int
	clients int

	mu      sync.Mutex // protects the following fields
	inside  map[*barriers.Passage]bool
	passed  int
	gaveUp  int
	ended   map[string]int // passages, by cause
	outcome map[string]int // leaves, by error
}

func newRendezvous(t *testing.T, seed uint64) *rendezvous {
	rng := rand.New(rand.NewPCG(seed, 0))
	n := 1 + rng.IntN(4)
	r := &rendezvous{
		T: t, seed: seed, n: n, clients: n + rng.IntN(mostParticipants-n+1),
		inside: map[*barriers.Passage]bool{}, ended: map[string]int{}, outcome: map[string]int{},
	}
	const long = 2 * barrierSession
	r.srv = zktest.Start(t, zktest.WithChaos(zktest.ChaosPlan{
		Seed: seed,
		Faults: []zktest.Rule{
			{Chance: 0.01, Do: zktest.DropRequest()},
			{Chance: 0.01, Do: zktest.DropReply()},
			{Chance: 0.004, Do: zktest.Blackhole()},
			{Chance: 0.004, Do: zktest.BlackholeReply()},
			{Chance: 0.02, Do: zktest.DelayReply(2 * time.Second)},
			{Chance: 0.03, Op: zktest.OpDelete, Do: zktest.DelayRequest(2 * time.Second)},
			{Chance: 0.03, Op: zktest.OpCreate, Do: zktest.DelayRequest(2 * time.Second)},
		},
		Every: 15 * time.Second,
		Disruptions: []zktest.Disruption{
			{Kind: "cut"}, {Kind: "cut"}, {Kind: "replace"}, {Kind: "reap"},
			{Kind: "stop", For: 2 * time.Second}, {Kind: "stop", For: long}, {Kind: "pause", For: long}, {Kind: "blackhole", For: long},
			{Kind: "pause_session", For: long}, {Kind: "pause_session", For: barrierSession / 2}, {Kind: "pause_session", For: long},
			{Kind: "end a session before its time", Do: r.expireSomeone},
		},
	}))
	return r
}

func (r *rendezvous) expireSomeone(rng *rand.Rand) {
	if all := r.srv.Sessions(); len(all) > 0 {
		r.srv.Session(all[rng.IntN(len(all))].ID).Expire()
	}
}

func (r *rendezvous) run() {
	restless, stop := context.WithTimeout(r.Context(), faultyMinutes*time.Minute)
	defer stop()
	var all sync.WaitGroup
	calm := make(chan struct{})
	for i := range r.clients {
		p := &participant{rendezvous: r, rng: rand.New(rand.NewPCG(r.seed, uint64(i+1)))}
		all.Go(func() { p.live(restless, calm, i < r.n) })
		time.Sleep(10 * time.Millisecond)
	}
	<-restless.Done()
	r.srv.StopFaults()
	time.Sleep(2 * time.Minute) // what was under way has ended
	close(calm)
	all.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), time.Minute)
	defer cancel()
	require.NoError(r, r.srv.WaitFor(ctx, func() bool { return len(r.srv.Sessions()) == 0 }))
	require.Empty(r, r.srv.Watches())
	require.Empty(r, r.srv.Children(rendezvousPath))
	require.GreaterOrEqual(r, r.passed, 2*r.n, "too few rounds to show anything")
}

// participant is one client.
type participant struct {
	*rendezvous
	rng *rand.Rand
}

// upTo returns a context that ends after no more than a number of seconds.
func (p *participant) upTo(seconds int) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), time.Duration(p.rng.IntN(1000*seconds))*time.Millisecond)
}

func (p *participant) live(restless context.Context, calm <-chan struct{}, again bool) {
	c, err := framework.New(p.srv.Addr(), framework.WithDialer(p.srv.Dialer()), framework.WithSessionTimeout(barrierSession))
	if err != nil {
		p.Errorf("%v", err)
		return
	}
	defer c.Close()
	b := barriers.NewDoubleBarrier(c, rendezvousPath, p.n)
	for restless.Err() == nil {
		if p.rng.IntN(8) == 0 {
			p.gate(c)
		}
		p.pass(b)
		time.Sleep(time.Duration(p.rng.IntN(3000)) * time.Millisecond)
	}
	<-calm
	if !again {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	passage, err := p.enter(ctx, b)
	if err != nil {
		p.Errorf("nothing disturbs this round: %v", err)
		return
	}
	time.Sleep(time.Second)
	if err := p.leave(ctx, passage); err != nil {
		p.Errorf("nothing disturbs this round: %v", err)
	}
}

// pass enters, stays for a while, and leaves. It may give up.
func (p *participant) pass(b *barriers.DoubleBarrier) {
	ctx, cancel := p.upTo(60)
	defer cancel()
	passage, err := p.enter(ctx, b)
	if err != nil {
		if ctx.Err() == nil && !framework.IsConnectionError(err) {
			p.Errorf("enter: %v", err)
		}
		return
	}
	select {
	case <-passage.Context().Done():
	case <-time.After(time.Duration(p.rng.IntN(10_000)) * time.Millisecond):
	}
	cause := context.Cause(passage.Context())
	patience, stop := p.upTo(120)
	defer stop()
	err = p.leave(patience, passage)
	if err != nil && patience.Err() == nil && !errors.Is(err, framework.ErrSessionLost) {
		p.Errorf("leave: %v", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended[kindOf(cause)]++
	p.outcome[kindOf(err)]++
}

// enter is Enter with checks.
func (r *rendezvous) enter(ctx context.Context, b *barriers.DoubleBarrier) (*barriers.Passage, error) {
	p, err := b.Enter(ctx)
	r.inTime(ctx, "Enter")
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.gaveUp++
		return nil, err
	}
	r.passed++
	r.inside[p] = true
	return p, nil
}

// leave is Leave with checks.
func (r *rendezvous) leave(ctx context.Context, p *barriers.Passage) error {
	r.mu.Lock()
	delete(r.inside, p)
	others := slices.Collect(maps.Keys(r.inside))
	r.mu.Unlock()
	err := p.Leave(ctx)
	r.inTime(ctx, "Leave")
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, other := range others {
		if _, there := r.srv.Node(rendezvousPath + "/" + other.Name()); err == nil && there && r.inside[other] && other.Context().Err() == nil {
			r.Errorf("%s has left, and %s has not", p.Name(), other.Name())
		}
	}
	return err
}

// inTime checks that a call ends with its context.
func (r *rendezvous) inTime(ctx context.Context, call string) {
	if end, ok := ctx.Deadline(); ok && time.Since(end) > time.Second {
		r.Errorf("%s has gone on for %v after its context", call, time.Since(end))
	}
}

// kindOf returns a short name of an error.
func kindOf(err error) string {
	if err == nil {
		return "-"
	}
	words := strings.Fields(err.Error())
	return words[len(words)-1]
}

// gate raises and lowers a barrier of its own, and passes it. A request may
// fail: then nothing is known.
func (p *participant) gate(c *framework.Client) {
	b := barriers.NewBarrier(c, fmt.Sprintf("/gate-%d", p.rng.Uint64()))
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	raised, err := b.Raise(ctx, barriers.WithSession())
	if err == nil && raised.Session != nil {
		short, stop := context.WithTimeout(ctx, time.Second)
		err := b.Wait(short)
		if err == nil && raised.Session.Context().Err() == nil && p.srvHas(raised.Owner) {
			p.Errorf("the barrier of session %#x is up, and Wait has returned", raised.Owner)
		}
		stop()
	}
	if b.Lower(ctx) == nil {
		if err := b.Wait(ctx); err != nil && ctx.Err() == nil && !framework.IsConnectionError(err) {
			p.Errorf("wait: %v", err)
		}
	}
}

func (p *participant) srvHas(session int64) bool {
	for _, s := range p.srv.Sessions() {
		if s.ID == session {
			return true
		}
	}
	return false
}

func (r *rendezvous) explain() {
	recipetest.LogEvents(r.T, r.srv)
	r.Logf("%d members of %d, %d passed, %d gave up, contexts %v, leaves %v",
		r.n, r.clients, r.passed, r.gaveUp, r.ended, r.outcome)
}
