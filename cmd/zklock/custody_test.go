package main

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// What follows from the last of some events. What protects the lock comes before
// what is told of it.
func TestCustody(t *testing.T) {
	const grace = 2 * time.Second
	cause := framework.ErrSessionLost
	loss := event{kind: sawLoss, cause: cause}
	exit := event{kind: sawExit}
	refusal := event{kind: sawRefusal, pid: 7}
	timer := act{kind: doStartGrace, wait: grace}
	term, killed := act{kind: doTerminate}, act{kind: doKill}
	for name, tc := range map[string]struct {
		onLost lossAction
		grace  time.Duration
		events []event
		want   []act
	}{
		"a signal": {"term", grace, []event{{kind: sawSignal, sig: syscall.SIGHUP}},
			[]act{{kind: doForward, sig: syscall.SIGHUP}, {kind: doNote, text: "forwarding hangup"}}},
		"a revocation": {"term", grace, []event{{kind: sawRevocation}},
			[]act{term, {kind: doNote, text: "somebody asks for /l: sending TERM"}}},
		"a loss":                          {"term", grace, []event{loss}, []act{timer, term}},
		"the end of the grace":            {"term", grace, []event{loss, {kind: sawGraceEnd}}, []act{killed, {kind: doNote, text: "sending KILL"}}},
		"a loss of a job that is stopped": {"term", grace, []event{{kind: sawLoss, cause: cause, stopped: true}}, []act{timer, killed}},
		"--on-lost kill":                  {"kill", grace, []event{loss}, []act{timer, killed}},
		"--on-lost exec":                  {"exec=x", grace, []event{loss}, []act{timer, {kind: doRunHook, shell: "x"}}},
		"no time for --on-lost": {"exec=x", 0, []event{loss},
			[]act{{kind: doStartGrace}, killed, {kind: doSay, text: "--on-lost: there is no time for it: sending KILL"}}},
		"--on-lost cannot be started": {"exec=x", grace, []event{loss, {kind: sawHookEnd, cause: errors.New("no")}},
			[]act{term, {kind: doSay, text: "--on-lost: no"}}},
		"--on-lost fails": {"exec=x", grace, []event{loss, {kind: sawHookEnd, started: true, cause: errors.New("no")}},
			[]act{{kind: doSay, text: "--on-lost: no"}}},
		"--on-lost succeeds":         {"exec=x", grace, []event{loss, {kind: sawHookEnd, started: true}}, nil},
		"the command ends":           {"term", grace, []event{exit}, []act{term, timer}},
		"a grace is not made longer": {"term", grace, []event{exit, loss}, []act{term}},
		"nor by the end":             {"term", grace, []event{loss, exit}, nil},
		"a refusal": {"term", grace, []event{refusal},
			[]act{{kind: doSay, text: "/l: cannot stop PID 7: the lock is held until it ends"}}},
		"a refusal after the loss": {"term", grace, []event{loss, refusal},
			[]act{{kind: doSay, text: "/l: cannot stop PID 7: it goes on beside the next holder"}}},
		"a loss after a refusal": {"term", grace, []event{refusal, loss},
			[]act{timer, term, {kind: doSay, text: "/l: cannot stop PID 7: it goes on beside the next holder"}}},
		"the first refusal counts": {"term", grace, []event{refusal, {kind: sawRefusal, pid: 8}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := &custody{path: "/l", grace: tc.grace, onLost: tc.onLost}
			var acts []act
			for _, e := range tc.events {
				acts = c.on(e)
			}
			require.Equal(t, tc.want, acts)
		})
	}
}

// A loss counts if the command still ran, and has a status of its own if the
// command could not be stopped. A signal counts if it asks for the end.
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
	for sig, want := range map[syscall.Signal]bool{
		syscall.SIGINT: true, syscall.SIGTERM: true, syscall.SIGHUP: true, syscall.SIGQUIT: true, syscall.SIGABRT: false,
	} {
		c := &custody{}
		c.on(event{kind: sawSignal, sig: sig})
		require.Equal(t, want, c.stopAsked, sig)
	}
}
