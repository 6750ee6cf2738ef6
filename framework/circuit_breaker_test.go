package framework

import (
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/state"
)

// The steps of a scenario: a transition, or a check when a pause has passed.
const (
	initial     = state.Initial
	connected   = state.Connected
	suspended   = state.Suspended
	reconnected = state.Reconnected
	lost        = state.Lost
	check       = state.State(-1)
)

// step is what comes in, and what must be told; nothing is Initial.
type step struct{ in, told state.State }

// The five scenarios of Curator's TestCircuitBreakingConnectionStateListener,
// and what they leave out.
func TestCircuitBreaker(t *testing.T) {
	forever, once := retry.Forever(time.Hour), retry.Once(time.Hour)
	for name, tc := range map[string]struct {
		policy retry.Policy
		steps  []step
		open   bool // at the end
	}{
		"testBasic": {retry.N(2, time.Hour), []step{
			{reconnected, reconnected},
			{suspended, suspended}, {suspended, initial}, {lost, lost},
			{reconnected, initial}, {suspended, initial}, {lost, initial}, {suspended, initial},
			{check, initial}, {check, suspended},
		}, false},
		"testResetsAfterReconnect": {forever, []step{
			{lost, lost}, {lost, initial}, {check, initial}, {reconnected, initial}, {check, reconnected},
		}, false},
		"testRetryNever": {retry.None(), []step{{lost, lost}, {lost, lost}, {suspended, suspended}}, false},
		"testRetryOnce":  {once, []step{{lost, lost}, {suspended, initial}, {check, suspended}}, false},
		"testSuspendedToLostRatcheting": {forever, []step{
			{reconnected, reconnected},
			{suspended, suspended}, {reconnected, initial}, {suspended, initial}, {reconnected, initial}, {suspended, initial},
			{lost, lost},
			{reconnected, initial}, {suspended, initial}, {lost, initial}, {reconnected, initial}, {lost, initial},
			{suspended, initial}, {lost, initial},
		}, true},

		"connected while closed":            {forever, []step{{connected, connected}}, false},
		"back before the first check":       {forever, []step{{suspended, suspended}, {reconnected, initial}, {check, reconnected}}, false},
		"flaps, and ends as it began":       {once, []step{{suspended, suspended}, {reconnected, initial}, {suspended, initial}, {check, initial}}, false},
		"still lost when pauses end":        {once, []step{{suspended, suspended}, {lost, lost}, {check, initial}}, false},
		"closed without a connection":       {once, []step{{suspended, suspended}, {check, initial}, {reconnected, reconnected}}, false},
		"lost of a connection that is back": {forever, []step{{suspended, suspended}, {reconnected, initial}, {lost, lost}, {reconnected, initial}, {check, reconnected}}, false},
		"opens again, ratchet and all": {once, []step{
			{suspended, suspended}, {lost, lost}, {reconnected, initial}, {check, reconnected},
			{suspended, suspended}, {lost, lost}, {check, initial},
		}, false},
		"opens again with the whole policy": {retry.N(2, time.Hour), []step{
			{suspended, suspended}, {check, initial}, {reconnected, initial}, {check, reconnected},
			{suspended, suspended}, {check, initial}, {reconnected, initial},
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := circuitBreaker{policy: tc.policy}
			waiting := false
			for i, s := range tc.steps {
				next := b.enter
				if s.in == check {
					require.True(t, waiting, "step %d checks when nobody asked for it", i)
					waiting = false
					next = func(state.State) (bool, time.Duration) { return b.check() }
				}
				tell, wait := next(s.in)
				require.Equal(t, s.told != initial, tell, "step %d", i)
				if tell {
					require.Equal(t, s.told, b.told, "step %d", i)
				}
				if wait != backoff.Stop {
					require.False(t, waiting, "step %d waits twice", i)
					require.Equal(t, time.Hour, wait)
					waiting = true
				}
			}
			require.Equal(t, tc.open, b.pauses != nil)
			require.Equal(t, tc.open, waiting, "an open circuit is checked, a closed one is not")
		})
	}
}
