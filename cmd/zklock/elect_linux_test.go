package main

import (
	"strconv"
	"syscall"
	"testing"
)

// Ctrl-C ends an election, and does not restart its command, whether that handles
// the signal or has the terminal and dies of it.
func TestCtrlCEndsAnElection(t *testing.T) {
	srv := startServer(t)
	for name, tc := range map[string]struct {
		script, input string
		status        int
	}{
		"a service":                   {`trap "echo interrupted; exit 3" INT; trap "echo continued" CONT; echo lead""ing; while :; do sleep 1 & wait $!; done`, "", 3},
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
			if tc.input == "" { // it is in the background, also after a stop
				y.keys(ctrlZ)
				y.see("prompt")
				y.keys("fg\n")
				y.see("continued")
			}
			y.keys(ctrlC)
			y.see("prompt")
			y.keys("echo status $?.\n")
			y.see("status " + strconv.Itoa(tc.status) + ".")
		})
	}
}
