package main

import (
	"fmt"
	"strings"
)

// bashScript has bash complete local files for what is one: not for paths of
// ZooKeeper. Bash splits words at ":" and "=".
func bashScript() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Completes the command lines of zklock in bash: source this file.
_zklock() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd= ends= i n=0
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		case $ends${COMP_WORDS[i]} in
		--) ends=1 ;;
		%s)
			((i++))
			[[ ${COMP_WORDS[i]} == = ]] && ((i++))
			;;
		: | = ) ((i++)) ;;
		-*) ;;
		*)
			if [[ -n $cmd ]]; then ((++n)); fi
			case ${cmd:-${COMP_WORDS[i]}} in %s) : "${cmd:=${COMP_WORDS[i]}}" ;; esac
			;;
		esac
	done
	case $cmd in
	%s)
		if ((n > 1)); then
			compopt -o default 2>/dev/null
			return
		elif ((n == 1)) && [[ -n $ends || $cur != -* ]] && ((i == COMP_CWORD)); then
			compopt -o default 2>/dev/null
			COMPREPLY=($(compgen -c -- "$cur"))
			return
		fi
		;;
	esac
	case $prev in
`, valuedFlags(" | "), strings.ReplaceAll(commandNames(), " ", " | "), programNames(" | "))
	eachFlag(func(d flagDoc) {
		pattern := strings.Join(d.dashed(), " | ")
		switch {
		case choices[d.long()] != "":
			fmt.Fprintf(&b, "\t%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", pattern, choices[d.long()])
		case d.isFile():
			fmt.Fprintf(&b, "\t%s) compopt -o default 2>/dev/null; COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", pattern)
		}
	})
	b.WriteString("\tesac\n\t((i == COMP_CWORD)) || return\n\tlocal flags words\n\tcase $cmd in\n")
	fmt.Fprintf(&b, "\t'') words='%s' ;;\n", commandNames())
	for _, c := range builtIn() {
		fmt.Fprintf(&b, "\t%s) flags='%s'%s ;;\n", c.name, allNames(c.ownFlags()), bashWords(c))
	}
	fmt.Fprintf(&b, "\tesac\n\tcase $cur in\n\t-*) words=\"$flags %s\" ;;\n\tesac\n", allNames(commonFlags()))
	b.WriteString("\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -F _zklock zklock\n")
	return b.String()
}

// bashWords sets the words that the operands of a command are among.
func bashWords(c *command) string {
	switch {
	case c == helpCommand:
		return "; words='" + commandNames() + "'"
	case choices[c.name] != "":
		return "; words='" + choices[c.name] + "'"
	}
	return ""
}
