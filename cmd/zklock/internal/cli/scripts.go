package cli

import (
	"embed"
	"flag"
	"fmt"
	"strings"
)

// scripts are the completion scripts of the shells. A script passes the words of the
// command line to the program, which returns the possible completions. PROGRAM stands
// for the program's name.
//
//go:embed scripts
var scripts embed.FS

func (p *Program[E]) completionCommand() *Command[E] {
	return &Command[E]{
		Name:    "completion",
		Purpose: "print a script that completes command lines",
		Usage:   "bash|zsh|fish",
		MinArgs: 1,
		MaxArgs: 1,
		Long: fmt.Sprintf(`
  source <(%[1]s completion bash)
  %[1]s completion zsh > "${fpath[1]}/_%[1]s"
  %[1]s completion fish > ~/.config/fish/completions/%[1]s.fish
`, p.Name),
		text: func(_ *flag.FlagSet, operands []string) (string, error) {
			script, err := scripts.ReadFile("scripts/completion." + operands[0])
			if err != nil {
				return "", fmt.Errorf("completion: unknown shell %q: use bash, zsh or fish", operands[0])
			}
			return strings.ReplaceAll(string(script), "PROGRAM", p.Name), nil
		},
	}
}
