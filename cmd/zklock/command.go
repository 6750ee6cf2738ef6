package main

import (
	"context"
	"flag"
	"strings"
)

// command is one subcommand. Everything that is said of it, in the help, in
// the completion and in the manual, is made from this value.
type command struct {
	name    string
	purpose string // one line, without a full stop
	usage   string // the operands, such as "[flags] PATH [-- CMD [ARG...]]"
	long    string // paragraphs of at most 80 columns, and examples

	// minArgs and maxArgs bound the number of operands; a maxArgs below 0 is
	// no bound.
	minArgs, maxArgs int

	// flagsEnd is the number of operands after which all else is an operand,
	// too, whatever it looks like: 2 for PATH CMD ARG..., so that CMD can have
	// flags. With 0, flags may stand anywhere up to "--".
	flagsEnd int

	// handlesSignals says that the command has its own way with signals. The
	// context of other commands ends at the first signal.
	handlesSignals bool

	// define adds the command's flags, and returns what runs the command once
	// they are parsed. It is also called for the help alone.
	define func(fs *flag.FlagSet) action
}

// action runs a command. See statusOf for its errors.
type action func(ctx context.Context, e *env) error

// env is what a command runs with.
type env struct {
	streams
	*settings
	args []string // the operands
}

// commands is the table of all commands, in the order of the help.
func commands() []*command {
	return append([]*command{
		runCommand,
		electCommand,
		waitCommand,
	}, operatorCommands()...)
}

// find returns the command of a name.
func find(name string) (*command, error) {
	var known []string
	for _, c := range builtIn() {
		if c.name == name {
			return c, nil
		}
		known = append(known, c.name)
	}
	return nil, usagef("unknown command %q; see zklock help%s", name, didYouMean(name, known))
}

// builtIn is the table with the commands that are made from it.
func builtIn() []*command {
	return append(commands(), helpCommand, completionCommand, manCommand)
}

// checkOperands returns a usage error if there are too few or too many.
func (c *command) checkOperands(operands []string) error {
	switch {
	case len(operands) < c.minArgs:
		return usagef("%s: too few arguments; usage: zklock %s %s", c.name, c.name, c.usage)
	case c.maxArgs >= 0 && len(operands) > c.maxArgs:
		return usagef("%s: unexpected argument %q; usage: zklock %s %s",
			c.name, strings.Join(operands[c.maxArgs:], " "), c.name, c.usage)
	}
	return nil
}
