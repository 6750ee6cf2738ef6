package main

import (
	"context"
	"flag"
	"io"
	"strings"
)

// completionCommand is initialised late because it lists the table that it is
// in.
var completionCommand = &command{
	name:    "completion",
	purpose: "print a script that completes command lines",
	usage:   "bash|zsh|fish",
	minArgs: 1,
	maxArgs: 1,
	long: `
  source <(zklock completion bash)
  zklock completion zsh > "${fpath[1]}/_zklock"
  zklock completion fish > ~/.config/fish/completions/zklock.fish
`,
}

func init() {
	completionCommand.define = func(*flag.FlagSet) action {
		return func(_ context.Context, e *env) error {
			script, ok := map[string]func() string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[e.args[0]]
			if !ok {
				return usagef("completion: %q is no shell that is known: bash, zsh or fish", e.args[0])
			}
			_, err := io.WriteString(e.out, script())
			return err
		}
	}
}

// choices are the values of flags and operands that are words.
var choices = map[string]string{
	"output": "table wide json", "kind": "mutex rw sem latch group queue all", "completion": "bash zsh fish",
}

// runsPrograms tells which commands have a command line as operands.
func (c *command) runsPrograms() bool { return c.flagsEnd > 0 }

// ownFlags returns the flags of a command.
func (c *command) ownFlags() []flagDoc {
	fs := newFlagSet(c.name)
	c.define(fs)
	return flagDocs(fs)
}

// commonFlags returns the flags that all commands have.
func commonFlags() []flagDoc {
	fs := newFlagSet("zklock")
	defaults().define(fs)
	return flagDocs(fs)
}

// long returns the longest name of a flag.
func (d flagDoc) long() string { return d.names[len(d.names)-1] }

// dashed returns the names of a flag as they are typed.
func (d flagDoc) dashed() []string {
	var names []string
	for _, n := range d.names {
		names = append(names, strings.Repeat("-", min(len(n), 2))+n)
	}
	return names
}

// isFile reports whether the value of a flag is a file.
func (d flagDoc) isFile() bool { return d.value == "file" }

func allNames(flags []flagDoc) string {
	var names []string
	for _, f := range flags {
		names = append(names, f.dashed()...)
	}
	return strings.Join(names, " ")
}

func commandNames() string {
	var names []string
	for _, c := range builtIn() {
		names = append(names, c.name)
	}
	return strings.Join(names, " ")
}

// eachFlag calls f for the common flags and those of all commands, once for
// each.
func eachFlag(f func(flagDoc)) {
	seen := map[string]bool{}
	all := commonFlags()
	for _, c := range builtIn() {
		all = append(all, c.ownFlags()...)
	}
	for _, d := range all {
		if name := d.long(); !seen[name] {
			seen[name] = true
			f(d)
		}
	}
}

// valuedFlags returns the names of the flags whose value is the next word.
func valuedFlags(between string) string {
	var names []string
	eachFlag(func(d flagDoc) {
		if d.value != "" {
			names = append(names, d.dashed()...)
		}
	})
	return strings.Join(names, between)
}

// programNames returns the commands that have a command line as operands.
func programNames(between string) string {
	var names []string
	for _, c := range builtIn() {
		if c.runsPrograms() {
			names = append(names, c.name)
		}
	}
	return strings.Join(names, between)
}

// quoteShell quotes a word for bash and zsh.
func quoteShell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
