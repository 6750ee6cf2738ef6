package main

import (
	"context"
	"flag"
	"fmt"
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

func bashScript() string {
	var b strings.Builder
	b.WriteString(`# Completes the command lines of zklock in bash: source this file.
_zklock() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd= i
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
`)
	fmt.Fprintf(&b, "\t\t%s) cmd=${COMP_WORDS[i]}; break ;;\n\t\tesac\n\tdone\n\tcase $prev in\n",
		strings.ReplaceAll(commandNames(), " ", "|"))
	eachFlag(func(d flagDoc) {
		pattern := strings.Join(d.dashed(), "|")
		switch {
		case choices[d.long()] != "":
			fmt.Fprintf(&b, "\t%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", pattern, choices[d.long()])
		case d.isFile():
			fmt.Fprintf(&b, "\t%s) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", pattern)
		}
	})
	b.WriteString("\tesac\n\tlocal flags words\n\tcase $cmd in\n")
	fmt.Fprintf(&b, "\t'') words='%s' ;;\n", commandNames())
	for _, c := range builtIn() {
		fmt.Fprintf(&b, "\t%s) flags='%s'%s ;;\n", c.name, allNames(c.ownFlags()), bashWords(c))
	}
	fmt.Fprintf(&b, "\tesac\n\tcase $cur in\n\t-*) words=\"$flags %s\" ;;\n\tesac\n", allNames(commonFlags()))
	b.WriteString("\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -o default -F _zklock zklock\n")
	return b.String()
}

// bashWords sets the words that the operands of a command are among.
func bashWords(c *command) string {
	switch {
	case c == helpCommand:
		return "; words='" + commandNames() + "'"
	case choices[c.name] != "":
		return "; words='" + choices[c.name] + "'"
	case c.runsPrograms():
		return "; [[ $cur == -* || $cur == /* ]] || { COMPREPLY=($(compgen -c -- \"$cur\")); return; }"
	}
	return ""
}

func zshScript() string {
	var b strings.Builder
	b.WriteString("#compdef zklock\n_zklock() {\n\tlocal -a commands flags\n\tlocal cmd i\n\tcommands=(\n")
	for _, c := range builtIn() {
		fmt.Fprintf(&b, "\t\t%s\n", quoteShell(c.name+":"+c.purpose))
	}
	fmt.Fprintf(&b, "\t)\n\tfor ((i = 2; i < CURRENT; i++)); do\n\t\tcase $words[i] in\n\t\t(%s) cmd=$words[i]; break ;;\n\t\tesac\n\tdone\n",
		strings.ReplaceAll(commandNames(), " ", "|"))
	b.WriteString("\tcase $words[CURRENT-1] in\n")
	eachFlag(func(d flagDoc) {
		pattern := strings.Join(d.dashed(), "|")
		switch {
		case choices[d.long()] != "":
			fmt.Fprintf(&b, "\t(%s) compadd -- %s; return ;;\n", pattern, choices[d.long()])
		case d.isFile():
			fmt.Fprintf(&b, "\t(%s) _files; return ;;\n", pattern)
		}
	})
	b.WriteString("\tesac\n\tif [[ $words[CURRENT] == -* ]]; then\n\t\tcase $cmd in\n")
	for _, c := range builtIn() {
		fmt.Fprintf(&b, "\t\t(%s) flags=(%s) ;;\n", c.name, zshFlags(c.ownFlags()))
	}
	fmt.Fprintf(&b, "\t\tesac\n\t\tflags+=(%s)\n\t\t_describe -o flag flags\n\t\treturn\n\tfi\n", zshFlags(commonFlags()))
	b.WriteString("\tcase $cmd in\n\t('' | help) _describe command commands ;;\n")
	fmt.Fprintf(&b, "\t(completion) compadd -- %s ;;\n", choices["completion"])
	for _, c := range builtIn() {
		if c.runsPrograms() {
			fmt.Fprintf(&b, "\t(%s) _command_names -e ;;\n", c.name)
		}
	}
	b.WriteString("\tesac\n}\nif [[ $funcstack[1] == _zklock ]]; then\n\t_zklock \"$@\"\nelse\n\tcompdef _zklock zklock\nfi\n")
	return b.String()
}

func zshFlags(flags []flagDoc) string {
	var words []string
	for _, f := range flags {
		for _, name := range f.dashed() {
			words = append(words, quoteShell(name+":"+strings.ReplaceAll(f.usage, ":", `\:`)))
		}
	}
	return strings.Join(words, " ")
}

func fishScript() string {
	var b strings.Builder
	b.WriteString("# Completes the command lines of zklock in fish.\n")
	for _, c := range builtIn() {
		fmt.Fprintf(&b, "complete -c zklock -f -n __fish_use_subcommand -a %s -d %s\n", c.name, quoteFish(c.purpose))
	}
	for _, d := range commonFlags() {
		fmt.Fprintf(&b, "complete -c zklock%s\n", fishFlag(d))
	}
	for _, c := range builtIn() {
		for _, d := range c.ownFlags() {
			fmt.Fprintf(&b, "complete -c zklock -n '__fish_seen_subcommand_from %s'%s\n", c.name, fishFlag(d))
		}
	}
	fmt.Fprintf(&b, "complete -c zklock -f -n '__fish_seen_subcommand_from help' -a '%s'\n", commandNames())
	fmt.Fprintf(&b, "complete -c zklock -f -n '__fish_seen_subcommand_from completion' -a '%s'\n", choices["completion"])
	return b.String()
}

func fishFlag(d flagDoc) string {
	var text string
	for _, n := range d.names {
		if len(n) == 1 {
			text += " -s " + n
		} else {
			text += " -l " + n
		}
	}
	switch {
	case choices[d.long()] != "":
		text += " -x -a " + quoteFish(choices[d.long()])
	case d.isFile():
		text += " -r -F"
	case d.value != "":
		text += " -x"
	}
	return text + " -d " + quoteFish(d.usage)
}

// quoteShell quotes a word for bash and zsh.
func quoteShell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// quoteFish quotes a word for fish.
func quoteFish(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}
