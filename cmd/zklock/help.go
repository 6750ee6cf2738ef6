package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
)

// helpCommand is initialised late because it lists the table that it is in.
var helpCommand = &command{
	name:    "help",
	purpose: "explain a command",
	usage:   "[COMMAND]",
	maxArgs: 1,
}

func init() {
	helpCommand.define = func(*flag.FlagSet) action {
		return func(_ context.Context, e *env) error {
			if len(e.args) == 0 {
				return overview(e.out)
			}
			c, err := find(e.args[0])
			if err != nil {
				return err
			}
			return c.help(e.out)
		}
	}
}

// overview prints the commands and the common flags.
func overview(w io.Writer) error {
	var b strings.Builder
	b.WriteString("Usage: zklock COMMAND [flags] [arguments]\n\n" +
		"Locks of ZooKeeper for shells and operators.\n\nCommands:\n")
	for _, c := range builtIn() {
		fmt.Fprintf(&b, "  %-10s %s\n", c.name, c.purpose)
	}
	b.WriteString("\nCommon flags:\n")
	fs := newFlagSet("zklock")
	defaults().define(fs)
	writeFlags(&b, flagDocs(fs))
	b.WriteString("\n" + statusHelp)
	_, err := io.WriteString(w, b.String())
	return err
}

const statusHelp = `Exit status: that of the child, 128+n after signal n, or
   1 refused         2 found something (graph, doctor)
  64 bad usage     69 no server     75 not acquired     76 lost
  77 no rights    125 own failure  126, 127 the child cannot be started
`

// help prints what there is to know of a command.
func (c *command) help(w io.Writer) error {
	var b strings.Builder
	usage := strings.TrimSpace(c.name + " " + c.usage)
	fmt.Fprintf(&b, "Usage: zklock %s\n\n%s.\n", usage, upperFirst(c.purpose))
	if c.long != "" {
		b.WriteString("\n" + strings.Trim(c.long, "\n") + "\n")
	}
	fs := newFlagSet(c.name)
	c.define(fs)
	if docs := flagDocs(fs); len(docs) > 0 {
		b.WriteString("\nFlags:\n")
		writeFlags(&b, docs)
	}
	b.WriteString("\nThe common flags are in: zklock help\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// flagDoc is what is said of one flag, with all its names.
type flagDoc struct {
	names    []string // without dashes, the shortest first
	value    string   // the name of its value, or empty for a switch
	usage    string
	defValue string // empty if it is the zero value
}

// flagDocs returns the flags of a set. Names that share a value are one flag.
func flagDocs(fs *flag.FlagSet) []flagDoc {
	var docs []flagDoc
	index := map[flag.Value]int{}
	fs.VisitAll(func(f *flag.Flag) {
		comparable := reflect.TypeOf(f.Value).Comparable() // that of fs.Func is not
		i, ok := 0, false
		if comparable {
			i, ok = index[f.Value]
		}
		if !ok {
			i = len(docs)
			docs = append(docs, docOf(f))
			if comparable {
				index[f.Value] = i
			}
		}
		docs[i].names = append(docs[i].names, f.Name)
	})
	for i := range docs {
		slices.SortFunc(docs[i].names, func(a, b string) int { return len(a) - len(b) })
	}
	slices.SortFunc(docs, func(a, b flagDoc) int { return strings.Compare(a.sortKey(), b.sortKey()) })
	return docs
}

// docOf returns what is said of a flag, without its names.
func docOf(f *flag.Flag) flagDoc {
	value, usage := flag.UnquoteUsage(f)
	if isSwitch(f) {
		value = ""
	}
	d := flagDoc{value: value, usage: usage, defValue: f.DefValue}
	switch f.DefValue {
	case "false", "0", "0s", "-1ns":
		d.defValue = ""
	}
	return d
}

// sortKey puts a flag at its first name, whatever the case.
func (d flagDoc) sortKey() string { return strings.ToLower(d.names[0]) }

// spelling returns the names with dashes, and the value.
func (d flagDoc) spelling() string {
	var names []string
	for _, n := range d.names {
		if len(n) == 1 {
			names = append(names, "-"+n)
		} else {
			names = append(names, "--"+n)
		}
	}
	s := strings.Join(names, ", ")
	if len(d.names[0]) > 1 {
		s = "    " + s
	}
	if d.value != "" {
		s += " " + strings.ToUpper(d.value)
	}
	return s
}

// writeFlags writes one flag a line, or two if it is long.
func writeFlags(b *strings.Builder, docs []flagDoc) {
	const column = 30
	for _, d := range docs {
		usage := d.usage
		if d.defValue != "" {
			usage += " (default " + d.defValue + ")"
		}
		spelling := "  " + d.spelling()
		if len(spelling) > column-2 {
			b.WriteString(spelling + "\n")
			spelling = ""
		}
		for i, line := range wrap(usage, 80-column) {
			if i > 0 {
				spelling = ""
			}
			fmt.Fprintf(b, "%-*s%s\n", column, spelling, line)
		}
	}
}

// wrap breaks a text into lines of at most width columns, between words.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// printVersion prints the version of the module, as the build knows it.
func printVersion(w io.Writer) error {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	_, err := fmt.Fprintln(w, "zklock", version)
	return err
}
