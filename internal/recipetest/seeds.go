package recipetest

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkinside"
)

// Seeds are the seeds of a test of random faults. Flags of the test program can choose
// other seeds.
type Seeds struct {
	flag         string
	all          int
	first, count *int
}

// SeedFlags declares the flags -x-seed and -x-seeds, for the flag x, and returns the
// chosen seeds. The argument all is the number of seeds in a full run.
func SeedFlags(name string, all int) *Seeds {
	return &Seeds{
		flag:  name,
		all:   all,
		first: flag.Int(name+"-seed", 1, "the first seed"),
		count: flag.Int(name+"-seeds", 0, "how many seeds, if not the usual number"),
	}
}

// Count returns how many seeds are tried. Without the flag, the number is a fiftieth of
// all by default, and at least two. In a full run, the number is all, multiplied by
// [thorough.Times].
func (s *Seeds) Count() int {
	switch {
	case *s.count > 0:
		return *s.count
	case thorough.Full():
		return s.all * thorough.Times()
	}
	return max(s.all/50, 2)
}

// All reports whether at least as many seeds are tried as in a full run.
func (s *Seeds) All() bool { return s.Count() >= s.all }

// Each runs a parallel subtest for each seed.
func (s *Seeds) Each(t *testing.T, trial func(t *testing.T, seed uint64)) {
	t.Helper()
	for seed := *s.first; seed < *s.first+s.Count(); seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			s.try(t, seed, trial)
		})
	}
}

// InTurn runs a subtest for each seed, one after the other, until one fails.
func (s *Seeds) InTurn(t *testing.T, trial func(t *testing.T, seed uint64)) {
	t.Helper()
	for seed := *s.first; seed < *s.first+s.Count() && !t.Failed(); seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { s.try(t, seed, trial) })
	}
}

func (s *Seeds) try(t *testing.T, seed int, trial func(t *testing.T, seed uint64)) {
	t.Helper()
	defer func() {
		if t.Failed() {
			test, _, _ := strings.Cut(t.Name(), "/")
			t.Logf("to run this again: go test -run '^%s$' -%s-seed %d -%[2]s-seeds 1", test, s.flag, seed)
		}
	}()
	trial(t, uint64(seed))
}

// LogEvents writes what a chaos plan has done to a server or an ensemble into the
// log of a failed test.
func LogEvents(t testing.TB, servers any) {
	t.Helper()
	if !t.Failed() {
		return
	}
	var b strings.Builder
	for at, what := range zkinside.Of(servers).Events {
		fmt.Fprintf(&b, "%s %s\n", at.Format(time.RFC3339Nano), what)
	}
	t.Log(b.String())
}
