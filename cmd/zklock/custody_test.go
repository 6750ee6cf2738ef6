package main

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// TestCustody checks the actions that follow from the last of some events. Actions that
// protect the lock come before messages.
func TestCustody(t *testing.T) {
	const grace = 2 * time.Second
	cause := framework.ErrSessionLost
	loss := event{kind: sawLoss, cause: cause}
	exit := event{kind: sawExit}
	refusal := event{kind: sawRefusal, pid: 7}
	timer := act{kind: doStartGrace, wait: grace}
	term, killed := act{kind: doTerminate}, act{kind: doKill}
	for name, tc := range map[string]struct {
		events []event
		want   []act
	}{
		"a signal": {[]event{{kind: sawSignal, sig: syscall.SIGHUP}},
			[]act{{kind: doForward, sig: syscall.SIGHUP}, {kind: doNote, text: "forwarding hangup"}}},
		"a revocation": {[]event{{kind: sawRevocation}},
			[]act{term, {kind: doNote, text: "a client asks for /l: sending TERM"}}},
		"a loss":                     {[]event{loss}, []act{timer, term}},
		"the end of the grace":       {[]event{loss, {kind: sawGraceEnd}}, []act{killed, {kind: doNote, text: "sending KILL"}}},
		"the command ends":           {[]event{exit}, []act{term, timer}},
		"a grace is not made longer": {[]event{exit, loss}, []act{term}},
		"nor by the end":             {[]event{loss, exit}, nil},
		"a refusal": {[]event{refusal},
			[]act{{kind: doSay, text: "/l: cannot stop PID 7: the lock is held until it ends"}}},
		"a refusal after the loss": {[]event{loss, refusal},
			[]act{{kind: doSay, text: "/l: cannot stop PID 7: it goes on beside the next holder"}}},
		"the first refusal counts": {[]event{refusal, {kind: sawRefusal, pid: 8}}, nil},
		"a loss after a refusal":   {[]event{refusal, loss}, []act{timer, term}},
		"refused again after the loss": {[]event{refusal, loss, {kind: sawRefusal, pid: 8}},
			[]act{{kind: doSay, text: "/l: cannot stop PID 8: it goes on beside the next holder"}}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &custody{path: "/l", grace: grace}
			var acts []act
			for _, e := range tc.events {
				acts = c.on(e)
			}
			require.Equal(t, tc.want, acts)
		})
	}
}

// A loss counts if the command still ran. The loss has a different status if the
// command could not be stopped. A signal counts if it asks the command to end.
func TestCustodyKnowsTheOutcome(t *testing.T) {
	loss, exit := event{kind: sawLoss, cause: framework.ErrSessionLost}, event{kind: sawExit}
	c := &custody{path: "/l"}
	c.on(exit)
	c.on(loss)
	require.NoError(t, c.cause)
	c = &custody{path: "/l"}
	c.on(loss)
	c.on(exit)
	require.ErrorIs(t, c.cause, framework.ErrSessionLost)
	require.Equal(t, lost, statusOf(c.lossOf(c.cause, "; the command was stopped")))
	c.on(event{kind: sawRefusal, pid: 7})
	err := c.lossOf(c.cause, "; the command was stopped")
	require.Equal(t, notStopped, statusOf(err))
	require.EqualError(t, err, "lost /l: session lost; PID 7 could not be stopped")
	c = &custody{path: "/l"}
	c.on(event{kind: sawRefusal, pid: 7}) // such as of sudo(8), which has ended since
	c.on(loss)
	require.Equal(t, lost, statusOf(c.lossOf(c.cause, "; the command was stopped")))
	for sig, want := range map[syscall.Signal]bool{
		syscall.SIGINT: true, syscall.SIGTERM: true, syscall.SIGHUP: true, syscall.SIGQUIT: true, syscall.SIGABRT: false,
	} {
		c := &custody{}
		c.on(event{kind: sawSignal, sig: sig})
		require.Equal(t, want, c.stopAsked, sig)
	}
}
