package leader_test

import (
	"context"
	"math/rand/v2"
	"path"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

var observerSeeds = recipetest.SeedFlags("observer", 40)

// Random faults hit three latches and an observer, half of the time on an
// ensemble whose members lag. The observer sees tokens that never fall, and no
// leader twice in a row. When the faults have stopped, it knows the leader.
func TestObserverUnderRandomFaults(t *testing.T) {
	observerSeeds.Each(t, func(t *testing.T, seed uint64) {
		synctest.Test(t, func(t *testing.T) { observeAtRandom(t, seed) })
	})
}

func observeAtRandom(t *testing.T, seed uint64) {
	const session = 20 * time.Second
	w := &observedElection{T: t}
	faults := zktest.WithChaos(zktest.ChaosPlan{
		Seed: seed,
		Faults: []zktest.FaultRate{
			{Chance: 0.01, Rule: zktest.Rule{Do: zktest.DropRequest()}},
			{Chance: 0.01, Rule: zktest.Rule{Do: zktest.DropReply()}},
			{Chance: 0.01, Rule: zktest.Rule{Do: zktest.DelayReply(3 * time.Second)}},
			{Chance: 0.01, Rule: zktest.Rule{Do: zktest.Fail(zktest.ErrSystem)}},
		},
		Every: 10 * time.Second,
		Disruptions: []zktest.Disruption{
			zktest.CutSession(), zktest.ExpireSession(), zktest.ReplaceSession(), zktest.StopFor(session),
			zktest.PauseSessionFor(2 * session), zktest.BlackholeFor(session),
			zktest.Custom("delete the leader", func(*rand.Rand) {
				if queue := w.newest().Queue("/l"); len(queue) > 0 {
					_ = w.newest().Delete(queue[0].Path)
				}
			}),
		},
	})
	var connect string
	var stopFaults func()
	var dial framework.DialFunc
	if seed%2 == 0 {
		srv := zktest.Start(t, faults)
		connect, dial, stopFaults = srv.Addr(), srv.Dialer(), srv.StopFaults
		w.newest = func() *zktest.Server { return srv }
	} else {
		ens := zktest.StartEnsemble(t, 3, faults)
		connect, dial, stopFaults = ens.ConnectString(), ens.Dialer(), ens.StopFaults
		ens.Members()[int(seed)%3].Lag(2 * time.Second)
		w.newest = func() *zktest.Server {
			if m := ens.Leader(); m != nil {
				return m.Server
			}
			return ens.Members()[0].Server
		}
	}
	newClient := func() *framework.Client {
		c, err := framework.New(connect, framework.WithDialer(dial), framework.WithSessionTimeout(session))
		require.NoError(t, err)
		return c
	}
	for range 3 {
		c := newClient()
		defer c.Close()
		_, err := leader.NewLatch(c, "/l")
		require.NoError(t, err)
	}
	watching := newClient()
	defer watching.Close()
	ctx, stop := context.WithCancel(context.Background())
	var reader sync.WaitGroup
	defer reader.Wait()
	defer stop()
	reader.Go(func() { w.read(ctx, watching) })
	time.Sleep(20 * time.Minute)
	stopFaults()
	time.Sleep(5 * time.Minute)
	w.check()
}

// observedElection is an election, and what an observer has seen of it.
type observedElection struct {
	*testing.T
	newest func() *zktest.Server

	mu   sync.Mutex // protects the following fields
	now  locks.Participant
	seen int
}

func (w *observedElection) read(ctx context.Context, c *framework.Client) {
	var last int64
	for p, err := range leader.Observe(ctx, c, "/l") {
		w.mu.Lock()
		switch {
		case err != nil:
			w.Error(err)
		case w.seen > 0 && p.Token == w.now.Token:
			w.Errorf("%#x was told twice in a row", p.Token)
		case p.Path != "" && p.Token < last:
			w.Errorf("token %#x comes after %#x", p.Token, last)
		}
		last = max(last, p.Token)
		w.now = p
		w.seen++
		w.mu.Unlock()
	}
}

func (w *observedElection) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	queue := w.newest().Queue("/l")
	require.Len(w, queue, 3)
	require.Equal(w, path.Base(queue[0].Path), path.Base(w.now.Path))
	require.Greater(w, w.seen, 10, "it was too quiet to show anything")
}
