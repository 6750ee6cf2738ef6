package main

import (
	"fmt"
	"strings"
)

// zshScript has no variable named commands: zsh's own one has the programs.
func zshScript() string {
	var b strings.Builder
	b.WriteString("#compdef zklock\n_zklock() {\n\tlocal -a names flags\n\tlocal cmd ends i n=0\n\tnames=(\n")
	for _, c := range builtIn() {
		fmt.Fprintf(&b, "\t\t%s\n", quoteShell(c.name+":"+c.purpose))
	}
	fmt.Fprintf(&b, `	)
	for ((i = 2; i < CURRENT; i++)); do
		case $ends$words[i] in
		(--) ends=1 ;;
		(%s) ((i++)) ;;
		(-*) ;;
		(*)
			if [[ -z $cmd ]]; then
				cmd=$words[i]
			elif ((++n == 2)) && [[ $cmd == (%s) ]]; then
				break
			fi
			;;
		esac
	done
	if [[ $cmd == (%s) ]] && ((n > 0 && i <= CURRENT)) && [[ -n $ends || $words[CURRENT] != -* || n -gt 1 ]]; then
		shift $((i - 1)) words
		((CURRENT -= i - 1))
		_normal
		return
	fi
`, valuedFlags("|"), programNames("|"), programNames("|"))
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
	b.WriteString("\tesac\n\t((i > CURRENT)) && return\n\tif [[ $words[CURRENT] == -* ]]; then\n\t\tcase $cmd in\n")
	for _, c := range builtIn() {
		fmt.Fprintf(&b, "\t\t(%s) flags=(%s) ;;\n", c.name, zshFlags(c.ownFlags()))
	}
	fmt.Fprintf(&b, "\t\tesac\n\t\tflags+=(%s)\n\t\t_describe -o flag flags\n\t\treturn\n\tfi\n", zshFlags(commonFlags()))
	b.WriteString("\tcase $cmd in\n\t('' | help) _describe command names ;;\n")
	fmt.Fprintf(&b, "\t(completion) compadd -- %s ;;\n", choices["completion"])
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
