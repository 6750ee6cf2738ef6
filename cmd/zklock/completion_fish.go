package main

import (
	"fmt"
	"strings"
)

// fishScript has functions that say where in the command line the cursor is.
func fishScript() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Completes the command lines of zklock in fish.

# Prints the command, how many operands it has, and the number of the word that
# begins another command line, or may do so.
function __zklock_place
	set -l words (commandline -opc)
	set -l cmd ''
	set -l operands 0
	set -l ends ''
	set -l i 2
	while test $i -le (count $words)
		switch "$ends$words[$i]"
			case --
				set ends 1
			case %s
				set i (math $i + 1)
			case '-*'
			case '*'
				if test -z "$cmd"
					set cmd $words[$i]
				else
					set operands (math $operands + 1)
					test $operands -eq 2; and contains -- $cmd %s; and break
				end
		end
		set i (math $i + 1)
	end
	string match -q -- '-*' (commandline -ct); and test -z "$ends"; and test $operands -lt 2; and set i 0
	printf '%%s\n' "$cmd" $operands $i
end

# Whether the flags and operands of a command of zklock stand here.
function __zklock_in
	set -l at (__zklock_place)
	test "$at[1]" = "$argv[1]"; and not __zklock_runs
end

# Whether the command line of another command stands here.
function __zklock_runs
	set -l at (__zklock_place)
	contains -- "$at[1]" %s; and test $at[2] -ge 1; and test $at[3] -gt 0
end

function __zklock_other
	set -l at (__zklock_place)
	set -l words (commandline -opc)
	test $at[3] -le (count $words); and set words $words[$at[3]..-1]; or set words
	complete -C (string join ' ' -- (string escape -- $words) (commandline -ct))
end

complete -c zklock -f
complete -c zklock -n __zklock_runs -a '(__zklock_other)'
`, valuedFlags(" "), programNames(" "), programNames(" "))
	for _, c := range builtIn() {
		fmt.Fprintf(&b, "complete -c zklock -n '__zklock_in \"\"' -a %s -d %s\n", c.name, quoteFish(c.purpose))
	}
	for _, d := range commonFlags() {
		fmt.Fprintf(&b, "complete -c zklock -n 'not __zklock_runs'%s\n", fishFlag(d))
	}
	for _, c := range builtIn() {
		for _, d := range c.ownFlags() {
			fmt.Fprintf(&b, "complete -c zklock -n '__zklock_in %s'%s\n", c.name, fishFlag(d))
		}
	}
	fmt.Fprintf(&b, "complete -c zklock -n '__zklock_in help' -a '%s'\n", commandNames())
	fmt.Fprintf(&b, "complete -c zklock -n '__zklock_in completion' -a '%s'\n", choices["completion"])
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

// quoteFish quotes a word for fish.
func quoteFish(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}
