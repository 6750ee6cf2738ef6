package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/gocurator/curator/cmd/zklock/internal/child"
)

func main() {
	child.RunHelper()
	os.Exit(run(context.Background(), os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// streams are what the program reads and writes. A child gets the very files.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run carries out one command line and returns the exit status. An error is one
// line on stderr. Nothing waits for somebody who reads that.
func run(ctx context.Context, args []string, s streams) int {
	n := newNotes(inFull(s.err))
	s.out, s.err = inFull(s.out), n
	err := dispatch(ctx, args, s)
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

// dispatch finds the command, parses its flags, and runs it.
func dispatch(ctx context.Context, args []string, s streams) error {
	set := defaults()
	fs := newFlagSet("zklock")
	set.define(fs)
	version := fs.Bool("version", false, "print the version")
	operands, err := parse(fs, args, 1)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return overview(s.out)
	case err != nil:
		return err
	case *version:
		return printVersion(s.out)
	case len(operands) == 0:
		return usagef("no command; see zklock help")
	}
	c, err := find(operands[0])
	if err != nil {
		return err
	}
	return c.execute(ctx, operands[1:], set, s)
}

// execute parses the command's own flags, and the common ones again, which may
// stand on either side of the command's name.
func (c *command) execute(ctx context.Context, args []string, set *settings, s streams) error {
	fs := newFlagSet(c.name)
	set.define(fs)
	action := c.define(fs)
	operands, err := parse(fs, args, c.flagsEnd)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return c.help(s.out)
	case err != nil:
		return fmt.Errorf("%s: %w", c.name, err)
	}
	if err := c.checkOperands(operands); err != nil {
		return err
	}
	if !c.handlesSignals {
		var stop func()
		ctx, stop = untilSignal(ctx)
		defer stop()
		s.out = stoppable{ctx, s.out}
	}
	err = action(ctx, &env{streams: s, settings: set, args: operands})
	return orSignal(ctx, err)
}
