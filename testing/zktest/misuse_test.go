package zktest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// Options that are nil or make no sense are an error of Run and RunEnsemble,
// and fail the test of Start and StartEnsemble.
func TestImpossibleOptionsAreRefused(t *testing.T) {
	plan := func(d zktest.Disruption) zktest.Option {
		return zktest.WithChaos(zktest.ChaosPlan{Every: time.Second, Disruptions: []zktest.Disruption{d}})
	}
	for want, opt := range map[string]zktest.Option{
		"option 1 is nil":          nil,
		"without an address":       zktest.WithTCP(""),
		"session timeouts from 2s": zktest.WithSessionTimeouts(2*time.Second, time.Second),
		"session timeouts from 0s": zktest.WithSessionTimeouts(0, time.Second),
		"a tick of -1s":            zkinside.With(zkinside.Settings{Tick: -time.Second}).(zktest.Option),
		"a sync limit of -1":       zkinside.With(zkinside.Settings{SyncLimit: -1}).(zktest.Option),
		"a container check":        zkinside.With(zkinside.Settings{ContainerCheckInterval: 1}).(zktest.Option),
		"a latency of -1s":         zktest.WithChaos(zktest.ChaosPlan{Latency: -time.Second}),
		"none of blackhole, cut, ": plan(zktest.Disruption{Kind: "pauze"}),
		"with a lag of -1ns":       plan(zktest.Disruption{Kind: "lag", Lag: -1}),
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
		"hold of 0s":              {Do: zkinside.HoldRequest(0).(zktest.Action)},
		"code of success":         {Do: zktest.Fail(0)},
		"chance outside":          {Chance: 0.5, Do: zktest.DropReply()},
		"a chance of 2":           {Chance: 2, Do: zktest.DropReply()},
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
	require.NoError(t, zktest.Start(t).Inject(zktest.Rule{Optional: true, Do: zktest.Call(func(zktest.Request) {})}).Err())
}

// requireFailure runs f with a test that must fail with the words.
func requireFailure(t *testing.T, words string, f func(tb zktest.TB)) {
	t.Helper()
	defer func() {
		t.Helper()
		require.Contains(t, recover(), words)
	}()
	f(failing{t})
}
