package zktest

import (
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var everyOdds = []Odds{
	{Chance: 0.02, Rule: Rule{Do: DropRequest}},
	{Chance: 0.02, Rule: Rule{Op: OpCreate, Path: "/a*", Do: DropReply}},
	{Chance: 0.05, Rule: Rule{Op: OpConnect, Do: Mute}},
	{Chance: 0.1, Rule: Rule{Op: OpGetChildren, Do: DelayReply(20 * time.Millisecond)}},
	{Chance: 0.1, Rule: Rule{Op: OpExists, After: 10, Times: 3, Do: Fail(ErrSystem)}},
	{Chance: 0.02, Rule: Rule{Op: OpDelete, Do: Silence}},
	{Chance: 0.02, Rule: Rule{Op: OpDelete, Do: Deafen}},
}

var everyDeed = []Deed{
	ExpireSomeone, CutSomeone, ReplaceSomeone, ReapNow, JumpClockBy(time.Second), StopFor(time.Second), FreezeFor(time.Second),
	PartitionFor(time.Second), RefuseFor(time.Second), PauseSomeoneFor(time.Second),
	Custom("nothing", func(r *rand.Rand) { r.IntN(2) }),
}

var everyEnsembleDeed = append([]Deed{ResignLeader, LagFor(time.Second, time.Second), IsolateFor(2 * time.Second)}, everyDeed...)

// record is what there is to see of a simulation.
type record struct {
	Requests   []Request
	Happenings []Happening
	Tree       []Node
	Calm       int // requests when it ended
}

// world is a server or an ensemble.
type world interface {
	Calm()
	Requests() []Request
	Happenings() []Happening
	Close() error
}

// found starts a world and returns its servers.
func found(t *testing.T, seed uint64, members int) (world, []*Server) {
	r := Random{Seed: seed, Odds: everyOdds, Every: 300 * time.Millisecond, Deeds: everyDeed}
	if members == 1 {
		srv := New(t, WithRandom(r))
		return srv, []*Server{srv}
	}
	r.Deeds = everyEnsembleDeed
	ens := NewEnsemble(t, members, WithRandom(r))
	return ens, ens.servers()
}

// simulated lets a few clients wander about for half a minute, and then in peace.
func simulated(t *testing.T, seed uint64, members int) (r record) {
	synctest.Test(t, func(t *testing.T) {
		w, servers := found(t, seed, members)
		over := make(chan struct{})
		var wg sync.WaitGroup
		for i := range 5 {
			time.Sleep(time.Millisecond) // one after the other
			wg.Go(func() { wander(t, servers[i%members], rand.New(rand.NewPCG(seed, uint64(i))), over) })
		}
		time.Sleep(30 * time.Second)
		w.Calm()
		r.Calm = len(w.Requests())
		time.Sleep(10 * time.Second)
		synctest.Wait()
		r.Requests, r.Happenings, r.Tree = w.Requests(), w.Happenings(), servers[0].Tree()
		close(over)
		require.NoError(t, w.Close())
		wg.Wait()
	})
	return r
}

func TestSameSeedSameRun(t *testing.T) {
	seed := SeedOf(t)
	for _, members := range []int{1, 3} {
		first, second := simulated(t, seed, members), simulated(t, seed, members)
		for i := range min(len(first.Requests), len(second.Requests)) {
			require.Equal(t, first.Requests[i], second.Requests[i], "request %d, with %d members", i, members)
		}
		require.Equal(t, first, second)
		require.Greater(t, len(first.Happenings), 50)
		require.Greater(t, len(first.Requests), first.Calm+20, "after the storm they work")
		require.NotEqual(t, first.Requests, simulated(t, seed+1, members).Requests)
	}
}

func TestRandomRefusesNonsense(t *testing.T) {
	for want, r := range map[string]Random{
		"chance of 2":    {Odds: []Odds{{Chance: 2, Rule: Rule{Do: Mute}}}},
		"ensemble":       {Deeds: []Deed{ResignLeader}, Every: 1},
		"does nothing":   {Deeds: []Deed{{}}, Every: 1},
		"deeds every 0s": {Deeds: []Deed{ReapNow}},
	} {
		_, err := NewServer(WithRandom(r))
		require.ErrorContains(t, err, want)
	}
	_, err := StartEnsemble(3, WithRandom(Random{Deeds: []Deed{ReapNow}}))
	require.Error(t, err)
	require.Panics(t, func() { _, _ = NewServer(WithRandom(Random{Odds: []Odds{{}}})) })
	require.Nil(t, New(t).Happenings())
}

// Whatever they draw, two clients are never at the server at once.
func TestSlotsDoNotCollide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := New(t)
		time.Sleep(12345)
		for wait := range 3000 * time.Nanosecond {
			for key := range int64(3) {
				at := time.Now().Add(srv.slot(wait, key))
				require.True(t, at.After(time.Now()))
				require.EqualValues(t, key, at.Nanosecond()%1000)
			}
		}
	})
}
