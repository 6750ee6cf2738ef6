package main

import (
	"bytes"
	"context"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	for name, tc := range map[string]struct {
		flagsEnd           int
		args, operands     string
		n, s               bool
		wait               time.Duration
		servers, errorSays string
	}{
		"nothing":                {},
		"flags first":            {args: "-n -w 5 /p", operands: "/p", n: true, wait: 5 * time.Second},
		"flags behind":           {args: "/p -n -w 1m", operands: "/p", n: true, wait: time.Minute},
		"long":                   {args: "--nonblock --wait=0.5 /p", operands: "/p", n: true, wait: time.Second / 2},
		"cluster":                {args: "-ns /p", operands: "/p", n: true, s: true},
		"cluster with a value":   {args: "-nw5 /p", operands: "/p", n: true, wait: 5 * time.Second},
		"value with equals":      {args: "-S=a=b", servers: "a=b"},
		"a dash is an operand":   {args: "- -n", operands: "-", n: true},
		"dashes end the flags":   {args: "/p -- -n --", operands: "/p -n --"},
		"a value of dashes":      {args: "-S -- /p", operands: "/p", servers: "--"},
		"the command's flags":    {flagsEnd: 2, args: "/p -n ls -s -- -w", operands: "/p ls -s -- -w", n: true},
		"dashes and the command": {flagsEnd: 2, args: "/p -- -n -s", operands: "/p -n -s"},
		"a switch that is off":   {args: "-n=false /p", operands: "/p"},
		"unknown":                {args: "--nope", errorSays: "unknown flag --nope"},
		"unknown in a cluster":   {args: "-nq", errorSays: "unknown flag -q"},
		"no long cluster":        {args: "--ns", errorSays: "unknown flag --ns"},
		"value is missing":       {args: "-w", errorSays: "flag -w needs a value"},
		"value is bad":           {args: "-w soon", errorSays: `flag -w: "soon" is no duration`},
		"value is negative":      {args: "-w -1", errorSays: `"-1" is no duration`},
		"value is too large":     {args: "-w 1e300", errorSays: `"1e300" is no duration`},
		"value is no number":     {args: "-w NaN", errorSays: `"NaN" is no duration`},
		"help":                   {args: "-n --help", errorSays: flag.ErrHelp.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			fs := newFlagSet("test")
			w := defineWaiting(fs)
			shared := fs.Bool("s", false, "")
			servers := fs.String("S", "", "")
			operands, err := parse(fs, strings.Fields(tc.args), tc.flagsEnd)
			if tc.errorSays != "" {
				require.ErrorContains(t, err, tc.errorSays)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.operands, strings.Join(operands, " "))
			require.Equal(t, tc.n, w.noWait)
			require.Equal(t, tc.s, *shared)
			require.Equal(t, tc.servers, *servers)
			if tc.wait == 0 {
				tc.wait = -1 // for ever
			}
			require.Equal(t, tc.wait, *w.limit)
		})
	}
}

// inProcess runs a command line that needs no child and no signals.
func inProcess(args ...string) (status int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	status = run(context.Background(), args, streams{strings.NewReader(""), &out, &errOut})
	return status, out.String(), errOut.String()
}

func TestBadUsageIsOneLine(t *testing.T) {
	t.Setenv("ZKLOCK_SERVERS", "127.0.0.1:1")
	for line, says := range map[string]string{
		"":                                       "no command",
		"nonsense":                               `unknown command "nonsense"`,
		"rn":                                     `unknown command "rn"; see zklock help; did you mean run?`,
		"--nonsense":                             "unknown flag --nonsense",
		"run --hodl /p":                          "unknown flag --hodl; did you mean --hold?",
		"run -n -w 5 /p true":                    "run: only one of -n and -w can be given",
		"wait -n -w0 /p":                         "wait: only one of -n and -w can be given",
		"help nonsense":                          `unknown command "nonsense"`,
		"run":                                    "too few arguments; usage: zklock run",
		"run /p":                                 "either a command or --hold",
		"run --hold /p true":                     "either a command or --hold",
		"run -s -x /p true":                      "only one of -s, -x and -c",
		"run -s -c 2 /p true":                    "only one of -s, -x and -c",
		"run -c -2 /p true":                      "is no number from 1 to",
		"run -c 0 /p true":                       "is no number from 1 to",
		"run -E 256 /p true":                     "is no number from 0 to 255",
		"run --limit-path /l /p true":            "--limit-path needs -c",
		"run --grace 9s /p true":                 "--grace 9s is too long for a session timeout of 10s",
		"run --strict --grace 3 /p true":         "can be 25% at most",
		"run --on-lost panic /p true":            `"panic" is no action`,
		"run --on-lost exec= /p true":            "is no action",
		"run --on-revoke kill /p true":           `"kill" is no action`,
		"run --grace 0 --on-lost exec=x /p true": "--on-lost exec=x needs a --grace above 0",
		"elect --on-lost exec=x --grace 0s /p true": "--on-lost exec=x needs a --grace above 0",
		"run -o xml /p true":                        `"xml" is no format`,
		"run --session-timeout 0 /p true":           "session-timeout",
		"run --auth-file /none /p true":             "--auth-file: open /none",
		"run --tls-ca /none /p true":                "--tls-ca: open /none",
		"run --tls-cert /none /p true":              "--tls-cert",
		"elect /p":                                  "give a command, or --observe",
		"elect --observe /p true":                   "takes a path and nothing else",
		"wait":                                      "too few arguments",
		"wait /p /q":                                `unexpected argument "/q"`,
		"wait /p -- -n":                             `unexpected argument "-n"`,
		"wait -S , /p --connect-timeout 1":          "invalid connection string",
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

func TestHelpFitsAScreen(t *testing.T) {
	const rows, columns = 45, 80
	lines := map[string][]string{"overview": {"help"}}
	for _, c := range builtIn() {
		lines[c.name] = []string{c.name, "--help"}
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
				require.NotRegexp(t, `^(zklock (man|completion)|source) | \n$`, line, "examples are indented, and no line ends with a space")
			}
		})
	}
}
