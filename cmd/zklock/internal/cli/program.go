package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime/debug"
	"strings"
)

// Program is a program with commands, which run with an E. Beside its own ones
// it has the commands help, completion and version. It is used for one
// command line, because Common may bind its flags to variables.
type Program[E any] struct {
	Name     string        // the word that users type
	Purpose  string        // one line, without a full stop
	Status   string        // what the exit statuses mean
	Commands []*Command[E] // the help keeps their order

	// Common adds the flags that may stand on either side of the name of a
	// command. It is called for both sides: what a variable has is its default.
	Common func(fs *flag.FlagSet)

	// Values complete the operands and the values of flags which the help
	// shows by a name in capitals, such as PATH. A FILE needs none.
	Values map[string]Values[E]

	// Print writes what help, completion and version have to say.
	Print func(e E, text string) error

	root *flag.FlagSet // the common flags
}

// Values returns what may stand at the cursor and begins with what is there. It
// may go on, so no blank follows it. What a shell would not take as it is, such
// as "$(halt)", is left out: values may be named by strangers.
type Values[E any] func(ctx context.Context, e E, beginning string) []string

// Command is one command of a program.
type Command[E any] struct {
	Name    string
	Purpose string // one line, without a full stop
	Long    string // paragraphs of at most 80 columns, and examples

	// Usage is the operands, such as "[flags] PATH [--] CMD [ARG...]". The
	// program's Values complete the ones in capitals. One in small letters,
	// such as "bash|zsh", is one of these words.
	Usage string

	// MinArgs and MaxArgs bound the number of operands; a MaxArgs below 0 is
	// no bound.
	MinArgs, MaxArgs int

	// FlagsEnd is the number of operands after which all else is an operand,
	// too, whatever it looks like: 2 for PATH CMD ARG..., so that CMD can have
	// flags. That operand and what follows it are the command line of another
	// program. With 0, flags may stand anywhere up to "--".
	FlagsEnd int

	// Define adds the command's flags, whose values are pointers, and returns
	// what runs the command once they are parsed. It is also called for the
	// help alone.
	Define func(fs *flag.FlagSet) Action[E]

	// text is what a command prints that each program has. Its error is a
	// usage error.
	text func(fs *flag.FlagSet, operands []string) (string, error)
}

// define adds the command's flags, if it has any.
func (c *Command[E]) define(fs *flag.FlagSet) Action[E] {
	if c.Define == nil {
		return nil
	}
	return c.Define(fs)
}

// Action runs a command.
type Action[E any] func(ctx context.Context, e E) error

// RunsProgram reports whether the operands of a command have the command line of
// another program in them.
func (c *Command[E]) RunsProgram() bool { return c.FlagsEnd > 0 }

// Call is a command line that was understood.
type Call[E any] struct {
	Command  *Command[E]
	Operands []string
	Run      Action[E]
}

// Parse reads a command line, without the name of the program. An error tells
// the user what is wrong with the line.
func (p *Program[E]) Parse(args []string) (*Call[E], error) {
	p.root = newFlagSet(p.Common)
	top := newFlagSet(p.Common)
	version := top.Bool("version", false, "print the version")
	l := &line{flags: top, flagsEnd: 1}
	err := l.readAll(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return p.printing(p.overview()), nil
	case err != nil:
		return nil, err
	case *version:
		return p.printing(p.version()), nil
	case len(l.operands) == 0:
		return nil, fmt.Errorf("no command; see %s help", p.Name)
	case l.operands[0] == completeName:
		return p.completing(l.operands[1:]), nil
	}
	c, err := p.find(l.operands[0])
	if err != nil {
		return nil, err
	}
	return p.parse(c, l.operands[1:])
}

// parse reads what follows the name of a command.
func (p *Program[E]) parse(c *Command[E], args []string) (*Call[E], error) {
	fs := newFlagSet(p.Common)
	action := c.define(fs)
	l := &line{flags: fs, flagsEnd: c.FlagsEnd}
	err := l.readAll(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return p.printing(p.help(c)), nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	case len(l.operands) < c.MinArgs:
		return nil, fmt.Errorf("%s: too few arguments; usage: %s", c.Name, p.usage(c))
	case c.MaxArgs >= 0 && len(l.operands) > c.MaxArgs:
		return nil, fmt.Errorf("%s: unexpected argument %q; usage: %s",
			c.Name, strings.Join(l.operands[c.MaxArgs:], " "), p.usage(c))
	}
	if c.text != nil {
		text, err := c.text(fs, l.operands)
		if err != nil {
			return nil, err
		}
		return p.printing(text), nil
	}
	return &Call[E]{c, l.operands, action}, nil
}

// find returns the command of a name.
func (p *Program[E]) find(name string) (*Command[E], error) {
	for _, c := range p.all() {
		if c.Name == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("unknown command %q; see %s help", name, p.Name)
}

// printing returns the call that prints a text.
func (p *Program[E]) printing(text string) *Call[E] {
	return &Call[E]{Command: &Command[E]{}, Run: func(_ context.Context, e E) error { return p.Print(e, text) }}
}

// moduleVersion returns the version of the module, as the build knows it.
func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
