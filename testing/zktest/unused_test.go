package zktest_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// noted is a test whose end a test can look at.
type noted struct {
	testing.TB
	cleanups []func()
	failures []string
}

func (n *noted) Failed() bool { return len(n.failures) > 0 }

func (n *noted) Cleanup(f func()) { n.cleanups = append(n.cleanups, f) }

func (n *noted) Fatalf(format string, args ...any) {
	n.failures = append(n.failures, fmt.Sprintf(format, args...))
}

func (n *noted) end() {
	for _, f := range n.cleanups {
		f()
	}
}

// A rule that has hit no request fails the test that set it, and the failure says
// where that was.
func TestRuleWithoutAHitFailsTheTest(t *testing.T) {
	hitting := zktest.Rule{Op: zktest.OpConnect, Do: zktest.DelayReply(1)}
	missing := zktest.Rule{Op: zktest.OpSync, Do: zktest.DropReply()}
	optional := missing
	optional.Optional = true
	for name, tc := range map[string]struct {
		rule   zktest.Rule
		remove bool
		fails  bool
	}{
		"hit":                  {rule: hitting},
		"hit and removed":      {rule: hitting, remove: true},
		"no hit":               {rule: missing, fails: true},
		"no hit and removed":   {rule: missing, remove: true, fails: true},
		"no hit, and optional": {rule: optional},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tb := &noted{TB: t}
				srv := zktest.Start(tb)
				injection := srv.Inject(tc.rule)
				connect(t, srv, time.Hour).Close()
				if tc.remove {
					injection.Remove()
				}
				tb.end()
				require.Equal(t, tc.fails, len(tb.failures) > 0, "%v", tb.failures)
				if tc.fails {
					require.Contains(t, strings.Join(tb.failures, ""), "unused_test.go:")
				}
			})
		})
	}
}

// The made-up address of a server in a bubble is an IP literal, which no client looks up.
// Every error of a dial names the address, and the address names the dialer that works.
func TestMadeUpAddressNamesTheDialer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := []*zktest.Server{zktest.Start(t)}
		for _, m := range zktest.StartEnsemble(t, 3).Members() {
			servers = append(servers, m.Server)
		}
		for i, srv := range servers {
			addr, err := netip.ParseAddrPort(srv.Addr())
			require.NoError(t, err)
			require.Equal(t, "needs-zktest.Server.Dialer", addr.Addr().Zone())
			require.EqualValues(t, i+1, addr.Port())
		}
	})
}

// The members of an ensemble count the hits of a rule together.
func TestRuleOfAnEnsembleWithoutAHitFailsTheTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := &noted{TB: t}
		zktest.StartEnsemble(tb, 3).Inject(zktest.Rule{Do: zktest.DropReply()})
		tb.end()
		require.Len(t, tb.failures, 1)
	})
}
