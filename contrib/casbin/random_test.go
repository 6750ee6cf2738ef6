package zkwatcher_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/testing/zktest"

	zkwatcher "github.com/gocurator/curator/contrib/casbin"
)

var seeds = recipetest.SeedFlags("watcher", 200)

// replica is an instance that knows its policy by a number. As a SyncedEnforcer
// does, it has a lock while it changes the policy and calls Update. It reads
// the database without that, and then overwrites what is in memory.
type replica struct {
	*zkwatcher.Watcher
	lock   chan struct{} // a mutex that virtual time does not wait for
	policy int64
}

func (r *replica) set(policy int64) {
	r.lock <- struct{}{}
	defer func() { <-r.lock }()
	r.policy = policy
}

// change is AddPolicy.
func (r *replica) change(database *atomic.Int64) {
	r.lock <- struct{}{}
	defer func() { <-r.lock }()
	r.policy = database.Add(1)
	_ = r.Update() // it may be pending
}

// Whatever happens to connections, sessions and loads: when it is over, all
// have the policy of the last change, their own changes too.
func TestAllHaveTheLastPolicyAfterRandomFaults(t *testing.T) {
	seeds.Each(t, func(t *testing.T, seed uint64) {
		synctest.Test(t, func(t *testing.T) {
			srv := zktest.Start(t, zktest.WithChaos(plan(seed)))
			var database atomic.Int64
			chance := rand.New(rand.NewPCG(seed, 0))
			var fleet []*replica
			for n := range 3 {
				fleet = append(fleet, newReplica(t, srv, &database, seed+uint64(n)))
			}
			var writers sync.WaitGroup
			for range 20 {
				time.Sleep(time.Duration(chance.IntN(8000)) * time.Millisecond)
				for _, r := range fleet {
					if chance.IntN(3) > 0 {
						continue
					}
					writers.Go(func() { r.change(&database) })
				}
				if chance.IntN(10) == 0 {
					_ = srv.Delete(path)
				}
			}
			srv.StopFaults()
			writers.Wait()
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			for n, r := range fleet {
				if now := database.Load(); r.policy != now || r.Err() != nil {
					recipetest.LogEvents(t, srv.Events())
					t.Fatalf("instance %d has the policy %d of %d: %v", n, r.policy, now, r.Err())
				}
			}
		})
	})
}

func plan(seed uint64) zktest.ChaosPlan {
	const short, long = time.Second, 12 * time.Second
	return zktest.ChaosPlan{
		Seed: seed,
		Faults: []zktest.FaultRate{
			{Chance: 0.02, Rule: zktest.Rule{Do: zktest.DropRequest()}},
			{Chance: 0.02, Rule: zktest.Rule{Do: zktest.DropReply()}},
			{Chance: 0.05, Rule: zktest.Rule{Op: zktest.OpMulti, Do: zktest.DropReply()}},
			{Chance: 0.01, Rule: zktest.Rule{Do: zktest.BlackholeReply()}},
			{Chance: 0.02, Rule: zktest.Rule{Do: zktest.DelayReply(500 * time.Millisecond)}},
			{Chance: 0.02, Rule: zktest.Rule{Op: zktest.OpMulti, Do: zktest.DelayRequest(20 * time.Second)}},
		},
		Every: 5 * time.Second,
		Disruptions: []zktest.Disruption{
			zktest.CutSession(), zktest.ReplaceSession(), zktest.ExpireSession(),
			zktest.StopFor(long), zktest.PauseFor(short), zktest.BlackholeFor(long), zktest.PauseSessionFor(long),
		},
	}
}

// newReplica returns one whose loads take time, and fail now and then.
func newReplica(t *testing.T, srv *zktest.Server, database *atomic.Int64, seed uint64) *replica {
	client, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()), framework.WithSessionTimeout(9*time.Second))
	require.NoError(t, err)
	t.Cleanup(func() { client.Close() })
	r := &replica{lock: make(chan struct{}, 1)}
	chance := rand.New(rand.NewPCG(seed, 1))
	r.Watcher, err = zkwatcher.New(client, path, func() error {
		read := database.Load()
		time.Sleep(time.Duration(chance.IntN(2000)) * time.Millisecond)
		if chance.IntN(4) == 0 {
			return errors.New("the database is down")
		}
		r.set(read)
		return nil
	})
	require.NoError(t, err)
	t.Cleanup(r.Close)
	return r
}
