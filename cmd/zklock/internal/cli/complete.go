package cli

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
)

// completeName is the command that the scripts of the shells call. Its operands
// are the words up to the cursor, without the name of the program.
const completeName = "__complete"

// completing returns the call that answers a script.
func (p *Program[E]) completing(words []string) *Call[E] {
	if len(words) == 0 {
		words = []string{""}
	}
	return &Call[E]{Command: &Command[E]{}, Run: func(ctx context.Context, e E) error {
		return p.Print(e, p.complete(ctx, e, words).String())
	}}
}

// complete returns the completions of the last word. It ignores errors in earlier
// words.
func (p *Program[E]) complete(ctx context.Context, e E, words []string) completion {
	before, word := words[:len(words)-1], words[len(words)-1]
	l := &line{flags: p.root, flagsEnd: 1}
	var c *Command[E]
	for _, w := range before {
		if _ = l.read(w); c == nil && len(l.operands) > 0 {
			var err error
			if c, err = p.find(l.operands[0]); err != nil {
				return completion{}
			}
			own := newFlagSet(p.Common)
			c.define(own)
			l = &line{flags: own, flagsEnd: c.FlagsEnd, words: l.words}
		}
	}
	switch {
	case l.open != nil:
		return p.values(ctx, e, l.open, "", word)
	case !l.ended && strings.HasPrefix(word, "-"):
		return p.flag(ctx, e, l.flags, word)
	case c == nil:
		return p.named(ctx, e, "COMMAND", word)
	}
	return p.operand(ctx, e, c, l, word)
}

// flag completes a flag, or its value after "=".
func (p *Program[E]) flag(ctx context.Context, e E, fs *flag.FlagSet, word string) completion {
	if name, value, ok := strings.Cut(word, "="); ok {
		if f := fs.Lookup(strings.TrimLeft(name, "-")); f != nil {
			return p.values(ctx, e, f, name+"=", value)
		}
		return completion{}
	}
	found := completion{kind: ofWords}
	for _, d := range flagDocs(fs) {
		for _, name := range d.names {
			found.add(word, name, d.usage)
		}
	}
	return found
}

// values completes the value of a flag. The words found begin with before.
func (p *Program[E]) values(ctx context.Context, e E, f *flag.Flag, before, value string) completion {
	var found completion
	if c, ok := f.Value.(Chooser); ok {
		found = among(c.Choices(), value)
	} else {
		found = p.named(ctx, e, docOf(f).value, value)
	}
	for i, w := range found.words {
		found.words[i] = before + w
	}
	return found
}

// operand completes an operand.
func (p *Program[E]) operand(ctx context.Context, e E, c *Command[E], l *line, word string) completion {
	n := len(l.operands)
	first := c.FlagsEnd - 1 // this operand names another program
	switch {
	case c.RunsProgram() && n == first:
		return completion{kind: fmt.Sprint(ofProgram, " ", l.words)}
	case c.RunsProgram() && n > first:
		return completion{kind: fmt.Sprint(ofProgram, " ", l.places[first])}
	}
	return p.named(ctx, e, c.operandName(n), word)
}

// operandName returns the name of an operand in the usage, or an empty text if the
// usage has fewer operands.
func (c *Command[E]) operandName(n int) string {
	usage := c.Usage
	if _, operands, ok := strings.Cut(usage, "[flags]"); ok {
		usage = operands
	}
	names := strings.Fields(usage)
	if len(names) > 0 && strings.Contains(names[len(names)-1], "...") {
		n = min(n, len(names)-1)
	}
	if n >= len(names) {
		return ""
	}
	return strings.Trim(names[n], "[.]")
}

// named completes a value that the help shows by a name.
func (p *Program[E]) named(ctx context.Context, e E, name, beginning string) completion {
	found := completion{kind: ofWords}
	values := p.Values[name]
	switch {
	case name == "COMMAND":
		for _, c := range p.all() {
			found.add(beginning, c.Name, c.Purpose)
		}
	case name == "FILE":
		found.kind = ofFiles
	case values != nil:
		found = completion{mayGoOn, slices.DeleteFunc(values(ctx, e, beginning), isSpecial)}
	case name != "" && name == strings.ToLower(name):
		return among(strings.Split(name, "|"), beginning)
	}
	return found
}
