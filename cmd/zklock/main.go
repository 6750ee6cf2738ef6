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

// streams are what the program reads and writes. A child gets the very files.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run carries out one command line and returns the exit status. An error is one
// line on stderr. Nothing waits for somebody who reads that.
func run(ctx context.Context, args []string, s streams, h host) int {
	n := newNotes(inFull(s.err))
	s.out, s.err = inFull(s.out), n
	err := dispatch(ctx, args, s, h)
	n.finish(lineOf(err))
	return statusOf(err)
}

// lineOf returns the line that tells of an error, or nothing.
func lineOf(err error) string {
	if err == nil || err.Error() == "" {
		return ""
	}
	return fmt.Sprintln("zklock:", err)
}

// dispatch parses a command line and runs its command. A command that runs
// another program passes signals on. All others end at the first one.
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
