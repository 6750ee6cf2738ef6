//go:build real

package interop_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/kazootest"
	"github.com/gocurator/curator/testing/zktest"
)

// The scenarios of BenchmarkPeers do what they say, with all clients of ZooKeeper.
// So a benchmark that nobody has run for long still works. The peers in Go have a
// test of their own.
func TestScenariosOfBenchmarks(t *testing.T) {
	t.Parallel()
	srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
	meter := startMeter(t, srv.Addr())
	work := func(t *testing.T, library string, rounds func(t *testing.T, s scenario) round) {
		for _, s := range scenarios {
			if s.ops == 500 {
				continue // it takes long, and is a larger crowd than that of 8-drained
			}
			t.Run(s.name, func(t *testing.T) {
				if round := rounds(t, s); round != nil {
					s.requireRequests(t, meter, library, round)
				}
			})
		}
	}
	t.Run("our", func(t *testing.T) {
		work(t, "our", func(t *testing.T, s scenario) round { return s.ours(t, meter.addr()) })
	})
	t.Run("zk.Lock", func(t *testing.T) {
		work(t, "zk.Lock", func(t *testing.T, s scenario) round {
			if s.zkLock == nil {
				return nil
			}
			return s.zkLock(t, meter.addr())
		})
	})
	peer := func(library string, p *peer) func(t *testing.T, s scenario) round {
		return func(t *testing.T, s scenario) round {
			if !slices.Contains(s.peers, library) {
				return nil
			}
			if s.command == "participants" {
				s.ours(t, srv.Addr()) // makes them
			}
			return p.rounds(t, s.command, s.path(library), s.times)
		}
	}
	t.Run("curator", func(t *testing.T) {
		work(t, "curator", peer("curator", startPeer(t, meter.addr(), longSession)))
	})
	t.Run("kazoo", func(t *testing.T) {
		python := kazootest.Python(t)
		cmd := exec.Command(python, filepath.Join("python", "scenarios.py"), meter.addr(), millis(longSession))
		work(t, "kazoo", peer("kazoo", startProgram(t, cmd)))
	})
}

// exactly is how many requests a round takes where nobody disturbs another, by the
// library and the scenario.
var exactly = map[string]int{
	"our/one-worker": 3 * 50, "zk.Lock/one-worker": 3 * 50, "curator/one-worker": 3 * 50, "kazoo/one-worker": 4 * 50,
	"our/cached": 0, "zk.Lock/cached": 3 * 50, "curator/cached": 3 * 50,
	"our/64-paths": 3 * 128,
	// A try's, and the holder's.
	"our/failed-try": 50 + 5, "our/failed-try-same-object": 3, "curator/failed-try": 4*50 + 3, "curator/failed-try-same-object": 4*50 + 4, "kazoo/failed-try": 4*50 + 4,
	"our/acquire-4": 5 * 20, "curator/acquire-4": 28 * 20,
	"our/multi-lock-of-8": 3 * 10, "curator/multi-lock-of-8": 8 * 3 * 10,
	"our/participants-of-100": 2 * 10, "curator/participants-of-100": 101 * 10,
}

func (s scenario) requireRequests(t *testing.T, m *meter, library string, round round) {
	requests, _ := m.cost(t, round)
	want, known := exactly[library+"/"+s.name]
	if !known {
		require.GreaterOrEqual(t, requests, 3*s.ops, "a create, a list and a delete for each")
		return
	}
	for tries := 1; requests != want && tries < 10; tries++ {
		// A slow round may have requests that watch a lock, and a client of Curator
		// asks for the configuration of the ensemble some time.
		requests, _ = m.cost(t, round)
	}
	require.Equal(t, want, requests)
}
