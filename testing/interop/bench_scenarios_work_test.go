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
// So a benchmark that nobody has run for long still works.
func TestScenariosOfBenchmarks(t *testing.T) {
	javaCurator.get(t)
	python := kazootest.Python(t)
	t.Parallel()
	srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
	meter := startMeter(t, srv.Addr())
	sides := map[string]*peer{
		"curator": startPeer(t, meter.addr(), longSession),
		"kazoo":   startProgram(t, exec.Command(python, filepath.Join("python", "scenarios.py"), meter.addr(), millis(longSession))),
	}
	for _, s := range scenarios {
		if s.command == "drain" {
			continue // it takes long, and is a crowd of the same acquires
		}
		t.Run(s.name, func(t *testing.T) {
			ours := s.ours(t, srv.Addr())
			require.Positive(t, ours.must(t))
			for name, p := range sides {
				if slices.Contains(s.peers, name) {
					before, _ := meter.counted()
					require.Positive(t, p.rounds(t, s.command, s.path(name), s.times).must(t), name)
					after, _ := meter.counted()
					require.Greater(t, after-before, s.ops, "%s does less than its operations", name)
				}
			}
			if s.zkLock != nil {
				require.Positive(t, s.zkLock(t, srv.Addr()).must(t))
			}
		})
	}
}
