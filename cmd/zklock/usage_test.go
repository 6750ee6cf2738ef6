package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// runWith is inProcess for a test that looks at the result as a whole.
func runWith(t *testing.T, args ...string) result {
	t.Helper()
	status, out, errs := inProcess(args...)
	return result{status, out, errs}
}

func TestBadUsageIsOneLine(t *testing.T) {
	t.Setenv("ZKLOCK_SERVERS", "127.0.0.1:1")
	for line, says := range map[string]string{
		"":                                 "no command",
		"nonsense":                         `unknown command "nonsense"`,
		"rn":                               `unknown command "rn"; see zklock help`,
		"--nonsense":                       "unknown flag --nonsense",
		"run --hodl /p":                    "unknown flag --hodl",
		"run -n -w 5 /p true":              "run: only one of -n and -w can be given",
		"wait -n -w0 /p":                   "wait: only one of -n and -w can be given",
		"help nonsense":                    `unknown command "nonsense"`,
		"run":                              "too few arguments; usage: zklock run",
		"run /p":                           "either a command or --hold",
		"run --hold /p true":               "either a command or --hold",
		"run -s -x /p true":                "only one of -s, -x and -c",
		"run -s -c 2 /p true":              "only one of -s, -x and -c",
		"run -c -2 /p true":                "is not a number from 1 to",
		"run -c 0 /p true":                 "is not a number from 1 to",
		"run -E 256 /p true":               "is not a number from 0 to 255",
		"run --grace 9s /p true":           "--grace 9s is too long for a session timeout of 10s",
		"run --strict --grace 3 /p true":   "can be 25% at most",
		"run -o xml /p true":               `"xml" is no format`,
		"run --session-timeout 0 /p true":  "session-timeout",
		"run --auth-file /none /p true":    "--auth-file: open /none",
		"run --sasl-user joe /p true":      "both of --sasl-user and --sasl-password-file",
		"run --tls-ca /none /p true":       "--tls-ca: open /none",
		"run --tls-cert /none /p true":     "--tls-cert",
		"elect /p":                         "give a command, or --observe",
		"elect --observe /p true":          "takes a path and nothing else",
		"wait":                             "too few arguments",
		"wait /p /q":                       `unexpected argument "/q"`,
		"wait /p -- -n":                    `unexpected argument "-n"`,
		"wait -S , /p --connect-timeout 1": "invalid connection string",
	} {
		t.Run(line, func(t *testing.T) {
			status, out, stderr := inProcess(strings.Fields(line)...)
			require.Equal(t, badUsage, status, stderr)
			require.Empty(t, out)
			require.Contains(t, stderr, says)
			require.True(t, strings.HasPrefix(stderr, "zklock: "), stderr)
			require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
		})
	}
	t.Setenv("ZKLOCK_SERVERS", "")
	status, _, stderr := inProcess("wait", "/p")
	require.Equal(t, badUsage, status)
	require.Contains(t, stderr, "no servers: name them with -S or ZKLOCK_SERVERS")
}

// The version has a command and a flag, as the form for a report asks for it.
func TestVersion(t *testing.T) {
	for _, line := range []string{"version", "--version"} {
		status, out, stderr := inProcess(line)
		require.Zero(t, status, stderr)
		require.Regexp(t, `^zklock \S+\n$`, out)
	}
	_, help, _ := inProcess("help")
	require.Regexp(t, `(?m)^  version +print the version$`, help)
	require.Regexp(t, `(?m)^ +--version +print the version$`, help)
}

// commandNames returns the names of all commands.
func commandNames() []string {
	var names []string
	for _, c := range commands() {
		names = append(names, c.Name)
	}
	return append(names, "help", "completion", "version")
}

func TestHelpFitsAScreen(t *testing.T) {
	const rows, columns = 45, 80
	lines := map[string][]string{"overview": {"help"}}
	for _, name := range commandNames() {
		lines[name] = []string{name, "--help"}
	}
	for name, args := range lines {
		t.Run(name, func(t *testing.T) {
			status, out, stderr := inProcess(args...)
			require.Equal(t, 0, status)
			require.Empty(t, stderr)
			require.True(t, strings.HasPrefix(out, "Usage: zklock "), out)
			require.LessOrEqual(t, strings.Count(out, "\n"), rows, out)
			for line := range strings.Lines(out) {
				require.LessOrEqual(t, len([]rune(line)), columns+1, line)
				require.NotRegexp(t, `^(zklock completion|source) | \n$`, line, "examples are indented, and no line ends with a space")
			}
		})
	}
}
