package main

import (
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Ctrl-C ends an election, and does not restart its command, whether that handles
// the signal or has the terminal and dies of it.
func TestCtrlCEndsAnElection(t *testing.T) {
	srv := startServer(t)
	for name, tc := range map[string]struct {
		script, input string
		status        int
	}{
		"a service":                   {`trap "echo interrupted; exit 3" INT; echo lead""ing; while :; do sleep 1 & wait $!; done`, "", 3},
		"a command with the terminal": {`echo lead""ing; read x; echo got $x; read x`, "it\n", 128 + int(syscall.SIGINT)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := startShell(t, srv)
			y.keys(`"$ZKLOCK" elect --restart /` + strconv.Itoa(tc.status) + ` -- sh -c '` + tc.script + `'` + "\n")
			y.see("leading")
			if tc.input != "" {
				y.keys(tc.input)
				y.see("got it")
			}
			y.keys(ctrlC)
			y.see("prompt")
			y.keys("echo status $?.\n")
			y.see("status " + strconv.Itoa(tc.status) + ".")
		})
	}
}

// A command that has not asked for the terminal does not get it with fg either.
func TestFgLeavesTheTerminalToAnElection(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	y := startShell(t, srv)
	l := newLife(t)
	y.keys(`"$ZKLOCK" elect --restart /el -- sh -c 'exec >` + l.path + `; echo $$; exec sleep 1000'` + "\n")
	command, err := strconv.Atoi(l.line())
	require.NoError(t, err)
	zklock := parentOf(t, parentOf(t, parentOf(t, command)))
	y.keys(ctrlZ)
	awaitState(t, command, "T", true)
	awaitState(t, zklock, "T", true)
	y.see("prompt")
	y.keys("fg\n")
	awaitState(t, command, "T", false)
	stat := processes(t)[zklock]
	require.Equal(t, stat[2], stat[5], "the group in the foreground")
	y.keys(ctrlC)
	l.end()
	y.see("prompt")
}
