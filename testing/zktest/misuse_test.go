package zktest_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// Options that are nil or make no sense are an error of Run and RunEnsemble,
// and fail the test of Start and StartEnsemble.
func TestImpossibleOptionsAreRefused(t *testing.T) {
	for want, opt := range map[string]zktest.Option{
		"option 1 is nil":          nil,
		"without an address":       zktest.WithTCP(""),
		"session timeouts from 2s": zktest.WithSessionTimeouts(2*time.Second, time.Second),
		"session timeouts from 0s": zktest.WithSessionTimeouts(0, time.Second),
		"a tick of -1s":            zktest.WithTick(-time.Second),
		"a sync limit of 0":        zktest.WithSyncLimit(0),
		"an election time of -1s":  zktest.WithElectionTime(-time.Second),
		"without credentials":      zktest.WithSuperUser(""),
		"a container check":        zktest.WithContainerCheckInterval(0),
		"a log of -1 requests":     zktest.WithRequestLog(-1),
		"a latency of -1s":         zktest.WithChaos(zktest.ChaosPlan{Latency: -time.Second}),
		"-1 spare members":         zktest.WithSpareMembers(-1),
		"invalid port":             zktest.WithTCP("nowhere:-1"),
	} {
		t.Run(want, func(t *testing.T) {
			_, err := zktest.Run(opt)
			require.ErrorContains(t, err, want)
			requireFailure(t, want, func(tb zktest.TB) { zktest.Start(tb, opt) })
			_, err = zktest.RunEnsemble(3, opt)
			require.ErrorContains(t, err, want)
			requireFailure(t, want, func(tb zktest.TB) { zktest.StartEnsemble(tb, 3, opt) })
		})
	}
	_, err := zktest.RunEnsemble(0)
	require.ErrorContains(t, err, "an ensemble of 0 members")
	requireFailure(t, "an ensemble of 0 members", func(tb zktest.TB) { zktest.StartEnsemble(tb, 0) })
}

// Rules that make no sense fail the test of their server. A server without a
// test says so by the injection, and the rule hits nothing.
func TestImpossibleRulesAreRefused(t *testing.T) {
	t.Parallel()
	for want, rule := range map[string]zktest.Rule{
		"syntax error in pattern": {Path: "[", Do: zktest.DropReply()},
		"without Do":              {},
		"After -1":                {After: -1, Do: zktest.DropReply()},
		"Times -2":                {Times: -2, Do: zktest.DropReply()},
		"a nil function":          {Do: zktest.Call(nil)},
		"call of a nil":           {Do: zktest.All(zktest.DropReply(), zktest.CallAfter(nil))},
		"an empty Action":         {Do: zktest.All(zktest.Action{})},
		"a delay of -1ns":         {Do: zktest.DelayRequest(-1)},
		"delay of -2ns":           {Do: zktest.DelayReply(-2)},
		"hold of 0s":              {Do: zktest.HoldRequest(0)},
		"code of success":         {Do: zktest.Fail(0)},
		"a path for connect":      {Op: zktest.OpConnect, Path: "/a", Do: zktest.DropReply()},
	} {
		t.Run(want, func(t *testing.T) {
			rule.Times = min(rule.Times, -1)
			requireFailure(t, want, func(tb zktest.TB) { zktest.Start(tb).Inject(rule) })
			requireFailure(t, want, func(tb zktest.TB) { zktest.StartEnsemble(tb, 3).Inject(rule) })

			srv, err := zktest.Run()
			require.NoError(t, err)
			defer srv.Close()
			inj := srv.Inject(rule)
			require.ErrorContains(t, inj.Err(), want)
			require.NoError(t, srv.Create("/a", nil))
			connect(t, srv, time.Minute)
			require.Zero(t, inj.Hits())
			inj.Remove()
		})
	}
	require.NoError(t, zktest.Start(t).Inject(zktest.Rule{Do: zktest.Call(func(zktest.Request) {})}).Err())
}

func TestImpossibleClockRatesAreRefused(t *testing.T) {
	for _, rate := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		requireFailure(t, "a clock rate of", func(tb zktest.TB) { _ = zktest.Start(tb).SetClockRate(rate) })
		srv, err := zktest.Run()
		require.NoError(t, err)
		require.ErrorContains(t, srv.SetClockRate(rate), "a clock rate of")
		require.NoError(t, srv.Close())
	}
}

// A path that cannot be that of a node would look like a node that is not
// there.
func TestInvalidPathsAreRefused(t *testing.T) {
	for _, path := range []string{"", "locks", "/locks/", "/locks//a", "/a/../b"} {
		for name, look := range map[string]func(tb zktest.TB, srv *zktest.Server) error{
			"AssertNoNodes": func(tb zktest.TB, srv *zktest.Server) error { srv.AssertNoNodes(tb, path); return nil },
			"Node": func(_ zktest.TB, srv *zktest.Server) error {
				_, found := srv.Node(path)
				require.False(t, found)
				return nil
			},
			"Children":     func(_ zktest.TB, srv *zktest.Server) error { require.Empty(t, srv.Children(path)); return nil },
			"Queue":        func(_ zktest.TB, srv *zktest.Server) error { require.Empty(t, srv.Queue(path)); return nil },
			"WatchesOn":    func(_ zktest.TB, srv *zktest.Server) error { require.Empty(t, srv.WatchesOn(path)); return nil },
			"WaitChildren": func(_ zktest.TB, srv *zktest.Server) error { return srv.WaitChildren(t.Context(), path, 0) },
		} {
			t.Run(fmt.Sprintf("%s %q", name, path), func(t *testing.T) {
				requireFailure(t, "invalid path", func(tb zktest.TB) { _ = look(tb, zktest.Start(tb)) })
				srv, err := zktest.Run()
				require.NoError(t, err)
				defer srv.Close()
				if name == "WaitChildren" {
					require.ErrorContains(t, look(t, srv), "invalid path")
				} else if name != "AssertNoNodes" {
					require.NoError(t, look(t, srv))
				}
			})
		}
	}
}

func TestImpossiblePartitionsAreRefused(t *testing.T) {
	other := zktest.StartEnsemble(t, 3)
	for want, choose := range map[string]func(ms []*zktest.Member) []*zktest.Member{
		"no member":            func([]*zktest.Member) []*zktest.Member { return nil },
		"all members":          func(ms []*zktest.Member) []*zktest.Member { return ms },
		"member 2 of 2 is nil": func(ms []*zktest.Member) []*zktest.Member { return []*zktest.Member{ms[0], nil} },
		"not of this ensemble": func([]*zktest.Member) []*zktest.Member { return other.Members()[:1] },
	} {
		t.Run(want, func(t *testing.T) {
			requireFailure(t, want, func(tb zktest.TB) {
				ens := zktest.StartEnsemble(tb, 3)
				_ = ens.Partition(choose(ens.Members())...)
			})
			ens, err := zktest.RunEnsemble(3)
			require.NoError(t, err)
			require.ErrorContains(t, ens.Partition(choose(ens.Members())...), want)
			require.True(t, ens.Members()[0].Reaches(ens.Members()[1]))
			require.NoError(t, ens.Close())
		})
	}
	require.True(t, other.Members()[0].Reaches(other.Members()[1]))
}

func TestImpossibleValuesAreRefused(t *testing.T) {
	for want, do := range map[string]func(ens *zktest.Ensemble) error{
		"a nil condition":         func(ens *zktest.Ensemble) error { return ens.WaitFor(t.Context(), nil) },
		"a wait for -1 watches":   func(ens *zktest.Ensemble) error { return ens.Leader().WaitWatches(t.Context(), 0, -1) },
		"a wait for -1 children":  func(ens *zktest.Ensemble) error { return ens.Leader().WaitChildren(t.Context(), "/", -1) },
		"a lag of -1ns":           func(ens *zktest.Ensemble) error { return ens.Leader().Lag(-1) },
		"a suspension for -1h0m0": func(ens *zktest.Ensemble) error { return ens.NewHost().Suspend(-time.Hour) },
	} {
		t.Run(want, func(t *testing.T) {
			requireFailure(t, want, func(tb zktest.TB) { _ = do(zktest.StartEnsemble(tb, 1)) })
			ens, err := zktest.RunEnsemble(1)
			require.NoError(t, err)
			require.ErrorContains(t, do(ens), want)
			require.NoError(t, ens.Close())
		})
	}
}

// A single server would have spare members for nothing.
func TestSpareMembersNeedAnEnsemble(t *testing.T) {
	_, err := zktest.Run(zktest.WithSpareMembers(1))
	require.ErrorContains(t, err, "without an ensemble")
}

// Fatalf of a TB that is not a test may return.
func TestFatalfMayReturn(t *testing.T) {
	tb := &returning{}
	require.Nil(t, zktest.Start(tb, nil))
	require.Nil(t, zktest.StartEnsemble(tb, 0))
	require.Equal(t, 2, tb.failed)
}

type returning struct{ failed int }

func (*returning) Helper()                 {}
func (*returning) Cleanup(func())          {}
func (r *returning) Fatalf(string, ...any) { r.failed++ }

// requireFailure runs f with a test that must fail with the words.
func requireFailure(t *testing.T, words string, f func(tb zktest.TB)) {
	t.Helper()
	defer func() {
		t.Helper()
		require.Contains(t, recover(), words)
	}()
	f(failing{t})
}
