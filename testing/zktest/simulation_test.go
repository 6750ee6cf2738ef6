package zktest_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// The library's own goroutines do not spoil it: clients of one goroutine each
// are deterministic.
func TestSameSeedSameRunWithGoZookeeper(t *testing.T) {
	seed := zktest.SeedOf(t)
	first, second := contend(t, seed), contend(t, seed)
	for i := range min(len(first), len(second)) {
		require.Equal(t, first[i], second[i], "request %d", i)
	}
	require.Len(t, second, len(first))
	require.Greater(t, len(first), 200)
}

// contend lets three clients create and delete nodes while the server fails.
func contend(t *testing.T, seed uint64) (log []zktest.Request) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t, zktest.WithChaos(zktest.ChaosPlan{
			Seed:        seed,
			Faults:      []zktest.FaultRate{{Chance: 0.05, Rule: zktest.Rule{Do: zktest.DropReply()}}, {Chance: 0.02, Rule: zktest.Rule{Do: zktest.Blackhole()}}},
			Every:       time.Second,
			Disruptions: []zktest.Disruption{zktest.CutSession(), zktest.ExpireSession(), zktest.StopFor(2 * time.Second), zktest.PauseFor(time.Second)},
		}))
		end := time.Now().Add(time.Minute)
		done := make(chan struct{})
		for i := range 3 {
			c := connect(t, srv, 4*time.Second)
			go func() {
				defer func() { done <- struct{}{} }()
				for n := 0; time.Now().Before(end); n++ {
					path, err := c.Create(fmt.Sprintf("/%d-%d-", i, n), nil, zk.FlagEphemeralSequential, open)
					if err == nil {
						err = c.Delete(path, -1)
					}
					if err != nil {
						time.Sleep(100*time.Millisecond + time.Duration(i))
					}
				}
			}()
		}
		for range 3 {
			<-done
		}
		log = srv.Requests()
		srv.StopFaults()
	})
	return log
}
