package cli

import (
	"context"
	"flag"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// toy is a program that has one of everything. Its values have what it was given
// before the cursor, and names that a shell would take apart.
func toy() *Program[string] {
	var server, form string
	paths := func(_ context.Context, e, beginning string) []string {
		return []string{beginning + e + server, "/$(halt)", "/a b", "/a\nb", "/`halt`", "/a;b", "/\xff"}
	}
	return &Program[string]{
		Name: "toy", Purpose: "what tests play with",
		Common: func(fs *flag.FlagSet) {
			fs.StringVar(&server, "S", server, "the `server`")
			Alias(fs, "S", "server")
			fs.String("log", "", "a `file`")
		},
		Values: map[string]Values[string]{"PATH": paths, "NODE": paths},
		Commands: []*Command[string]{
			{
				Name: "show", Purpose: "show something", Usage: "--id Z [flags] PATH [N]", MaxArgs: 2,
				Define: func(fs *flag.FlagSet) Action[string] {
					WordVar(fs, &form, "form", "form", "the `form`: long or short", "long", "short", "exec=")
					fs.String("at", "", "a `node`")
					fs.Bool("all", false, "everything")
					return nil
				},
			},
			{Name: "run", Purpose: "run something", Usage: "[flags] PATH [--] CMD [ARG...]", MaxArgs: -1, FlagsEnd: 2},
			{Name: "join", Purpose: "join several", Usage: "[PATH...]", MaxArgs: -1},
		},
		Print: func(string, string) error { return nil },
	}
}

func TestComplete(t *testing.T) {
	for line, want := range map[string]string{
		"":                           "words: show run join help completion version",
		"s":                          "words: show",
		"help r":                     "words: run",
		"completion ":                "words: bash zsh fish",
		"completion z":               "words: zsh",
		"--":                         "words: --log --server",
		"show --a":                   "words: --all --at",
		"show -":                     "words: --all --at --form --log -S --server",
		"show --form ":               "words: long short exec=",
		"show --form l":              "words: long",
		"show --form=s":              "words: --form=short",
		"show --form e":              "beginnings: exec=",
		"show --nonsense=s":          ":",
		"show --all=":                "words:",
		"show --log ":                "files:",
		"--log ":                     "files:",
		"show --at /":                "beginnings: /at",
		"show --at=/":                "beginnings: --at=/at",
		"show /":                     "beginnings: /at",
		"-S a show /":                "beginnings: /ata",
		"show -S a --form bad /":     "beginnings: /ata",
		"show --nonsense /":          "beginnings: /at",
		"show /p ":                   "words:",
		"show /p 1 ":                 "words:",
		"join /p /q /":               "beginnings: /at",
		"run /":                      "beginnings: /at",
		"run -- ":                    "beginnings: at",
		"run /p ":                    "program 2:",
		"run /p l":                   "program 2:",
		"run /p -":                   "words: --log -S --server",
		"run /p -- -":                "program 3:",
		"-S a run -S b -- /p ls -l ": "program 7:",
		"nonsense ":                  ":",
		"-S":                         "words: -S",
	} {
		p := toy()
		p.Print = func(_, text string) error {
			lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			got := lines[0] + ":"
			for _, l := range lines[1:] {
				word, _, _ := strings.Cut(l, "\t")
				got += " " + word
			}
			require.Equal(t, want, got, line)
			return nil
		}
		call, err := p.Parse(append([]string{completeName}, strings.Split(line, " ")...))
		require.NoError(t, err, line)
		require.NoError(t, call.Run(t.Context(), "at"), line)
	}
}
