package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/gocurator/curator/cmd/zklock/internal/child"
)

func main() {
	child.RunHelper()
	os.Exit(run(context.Background(), os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}, thisHost()))
}

// streams are the program's input and outputs. A child gets the same files.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run carries out one command line and returns the exit status. An error is one line on
// stderr. run does not wait for a reader of stderr.
func run(ctx context.Context, args []string, s streams, h host) int {
	n := newNotes(inFull(s.err))
	s.out, s.err = inFull(s.out), n
	err := dispatch(ctx, args, s, h)
	n.finish(lineOf(err))
	return statusOf(err)
}

// lineOf returns the line for an error, or an empty text.
func lineOf(err error) string {
	if err == nil || err.Error() == "" {
		return ""
	}
	return fmt.Sprintln("zklock:", err)
}

// dispatch parses a command line and runs its command. A command that runs another
// program passes signals on. Any other command ends at the first signal.
func dispatch(ctx context.Context, args []string, s streams, h host) error {
	set := defaults()
	call, err := newProgram(set).Parse(args)
	if err != nil {
		return statusError{badUsage, err}
	}
	if !call.Command.RunsProgram() {
		var stop func()
		ctx, stop = h.untilSignal(ctx)
		defer stop()
		s.out = stoppable{ctx, s.out}
	}
	err = call.Run(ctx, &env{streams: s, host: h, settings: set, args: call.Operands})
	return orSignal(ctx, err)
}
