package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime/debug"
	"strings"
)

// Program is a program with commands, which run with an E. In addition to Commands, it
// has the commands help, completion and version. Use a Program for one command line
// only, because Common may bind its flags to variables.
type Program[E any] struct {
	Name     string        // the word that users type
	Purpose  string        // one line, without a full stop
	Status   string        // the meaning of the exit statuses
	Commands []*Command[E] // the help keeps their order

	// Common adds the flags that may come before or after the name of a command. It is
	// called once for each side: the present value of a variable is its default.
	Common func(fs *flag.FlagSet)

	// Values has the completion of operands and of flags' values, by their name in the
	// help, such as PATH. FILE needs no entry.
	Values map[string]Values[E]

	// Print writes the output of help, completion and version.
	Print func(e E, text string) error

	root *flag.FlagSet // the common flags
}

// Values returns the possible words at the cursor with the given beginning. No blank
// follows a word, because the word may be incomplete. Words with a special meaning to
// the shell, such as "$(halt)", are left out, because untrusted clients may have chosen
// the names.
type Values[E any] func(ctx context.Context, e E, beginning string) []string

// Command is one command of a program.
type Command[E any] struct {
	Name    string
	Purpose string // one line, without a full stop
	Long    string // paragraphs of at most 80 columns, and examples

	// Usage lists the operands, such as "[flags] PATH [--] CMD [ARG...]". An operand in
	// capitals is completed by the function that Program.Values has for its name. An
	// operand in small letters, such as "bash|zsh", is one of these words.
	Usage string

	// MinArgs and MaxArgs bound the number of operands; a negative MaxArgs means no
	// upper bound.
	MinArgs, MaxArgs int

	// FlagsEnd is the number of operands after which all further words are operands,
	// too: 2 for PATH CMD ARG..., so that CMD can have flags. The last of these
	// operands and all further words are the command line of another program. With 0,
	// flags may come anywhere before "--".
	FlagsEnd int

	// Define adds the command's flags, whose values are pointers, and returns the
	// Action that runs the command once the flags are parsed. Define is also called for
	// the help.
	Define func(fs *flag.FlagSet) Action[E]

	// text returns the output of a built-in command. Its error is a usage error.
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

// RunsProgram reports whether the operands of a command contain the command line of
// another program.
func (c *Command[E]) RunsProgram() bool { return c.FlagsEnd > 0 }

// Call is a parsed command line.
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

// parse reads the words after the name of a command.
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

// find returns the command with a name.
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

// moduleVersion returns the version of the module from the build information.
func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
