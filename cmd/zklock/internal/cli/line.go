package cli

import (
	"flag"
	"fmt"
	"strings"
)

// line is a command line that is read word by word.
type line struct {
	flags    *flag.FlagSet
	flagsEnd int // see Command.FlagsEnd

	operands []string
	places   []int      // the positions of the operands among the words
	words    int        // the number of words read
	ended    bool       // all following words are operands
	open     *flag.Flag // the next word is the value of this flag
	opened   string     // the open flag's name, dashes included
}

// readAll reads a whole command line.
func (l *line) readAll(words []string) error {
	for _, word := range words {
		if err := l.read(word); err != nil {
			return err
		}
	}
	if l.open != nil {
		return fmt.Errorf("flag %s needs a value", l.opened)
	}
	return nil
}

// read reads the next word. After an error, the line continues without that word.
func (l *line) read(word string) error {
	l.words++
	switch {
	case l.open != nil:
		f := l.open
		l.open = nil
		return l.set(f, l.opened, word)
	case l.ended || word == "-" || !strings.HasPrefix(word, "-"):
		l.operands = append(l.operands, word)
		l.places = append(l.places, l.words-1)
		l.ended = l.ended || len(l.operands) == l.flagsEnd
		return nil
	case word == "--":
		l.ended = true
		return nil
	}
	return l.readFlag(word)
}

// readFlag reads a flag, or several of one letter.
func (l *line) readFlag(word string) error {
	name, value, hasValue := strings.Cut(strings.TrimLeft(word, "-"), "=")
	f := l.flags.Lookup(name)
	if f == nil && !strings.HasPrefix(word, "--") && len(name) > 1 {
		switch f = l.flags.Lookup(name[:1]); {
		case f != nil && isSwitch(f):
			if err := l.set(f, word, "true"); err != nil {
				return err
			}
			return l.readFlag("-" + word[2:])
		case f != nil:
			return l.set(f, word, word[2:])
		}
	}
	switch {
	case f == nil && (name == "h" || name == "help"):
		return flag.ErrHelp
	case f == nil:
		return fmt.Errorf("unknown flag %s", word)
	case hasValue:
		return l.set(f, word, value)
	case isSwitch(f):
		return l.set(f, word, "true")
	}
	l.open, l.opened = f, word
	return nil
}

// set gives a flag its value.
func (l *line) set(f *flag.Flag, typed, value string) error {
	if err := l.flags.Set(f.Name, value); err != nil {
		return fmt.Errorf("flag %s: %w", typed, err)
	}
	return nil
}

// dashed returns the name of a flag as users type it.
func dashed(name string) string { return "--"[:min(len(name), 2)] + name }

// isSwitch reports whether a flag takes no value.
func isSwitch(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// newFlagSet returns a set of flags that is read by a line.
func newFlagSet(define func(*flag.FlagSet)) *flag.FlagSet {
	fs := &flag.FlagSet{}
	define(fs)
	return fs
}
