//go:build real && linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// inShell runs a script in a shell that may not be installed, and returns its
// lines.
func inShell(t *testing.T, shell string, args ...string) []string {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "GORACE=atexit_sleep_ms=0",
		"PATH="+filepath.Dir(zklockPath)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, &stderr)
	require.Empty(t, stderr.String())
	return strings.Fields(string(out))
}

// scriptOf returns a file with the script of a shell.
func scriptOf(t *testing.T, shell string) string {
	t.Helper()
	got := runWith(t, "completion", shell)
	require.Zero(t, got.status, got.err)
	file := filepath.Join(t.TempDir(), "zklock."+shell)
	require.NoError(t, os.WriteFile(file, []byte(got.out), 0o666))
	return file
}

// completed is what a shell must offer: the line, and some words that are among
// the answer. No other word begins with "x-".
var completed = []struct {
	line      []string
	want, not string
}{
	{[]string{"zklock", ""}, "run ls show graph doctor completion", "--recursive"},
	{[]string{"zklock", "sh"}, "show", ""},
	{[]string{"zklock", "ls", "--"}, "--recursive --held-over --all --servers", "--czxid"},
	{[]string{"zklock", "-S", "a:1", "ls", "--"}, "--recursive --servers", "--czxid"},
	{[]string{"zklock", "services", "--codec", ""}, "curator dubbo dubbo-interface serverset spring", "ls"},
	{[]string{"zklock", "show", "-o", ""}, "table json", "ls"},
	{[]string{"zklock", "show", "--output=j"}, "--output=json", "--output=table"},
	{[]string{"zklock", "free", "--c"}, "--czxid", ""},
	{[]string{"zklock", "help", ""}, "ls show", ""},
	{[]string{"zklock", "completion", ""}, "bash zsh fish", "ls"},
	{[]string{"zklock", "run", "/l", "--", "ech"}, "echo", ""},
	{[]string{"zklock", "-S", "a:1", "run", "-w", "5", "--grace=1", "/l", "ech"}, "echo", ""},
	{[]string{"zklock", "run", "/l", "-"}, "--hold", ""},
	{[]string{"zklock", "run", "/l", "ech", "--verb"}, "", "--verbose"},
	{[]string{"zklock", "run", "ech"}, "", "echo"},
	{[]string{"zklock", "run", "-w", "ech"}, "", "echo"},
	{[]string{"zklock", "run", "/et"}, "", "/etc/"},
	{[]string{"zklock", "show", "/et"}, "", "/etc/"},
	{[]string{"zklock", "show", "/jobs/"}, "/jobs/bill /jobs/backup", "$(halt)"},
}

// serveJobs starts a server that has some nodes, for the shells.
func serveJobs(t *testing.T) {
	srv := startServer(t)
	for _, path := range []string{"/jobs", "/jobs/bill", "/jobs/backup", "/jobs/$(halt)", "/jobs/a:bc"} {
		require.NoError(t, srv.Create(path, nil))
	}
	t.Setenv("ZKLOCK_SERVERS", srv.Addr())
}

func requireCompleted(t *testing.T, complete func(line []string) []string) {
	t.Helper()
	serveJobs(t)
	for _, tt := range completed {
		got := complete(tt.line)
		for _, word := range strings.Fields(tt.want) {
			require.Contains(t, got, word, "%q", tt.line)
		}
		require.False(t, tt.not != "" && slices.Contains(got, tt.not), "%q: %q", tt.line, got)
	}
}

func completionInBash(t *testing.T) {
	script := scriptOf(t, "bash")
	requireCompleted(t, func(line []string) []string {
		return inShell(t, "bash", append([]string{"--norc", "-c", `
			source "$1"; shift
			COMP_LINE="$*"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
			_zklock "$1"; printf '%s\n' "${COMPREPLY[@]}"`, "test", script}, line...)...)
	})
}

// Bash splits words at these characters, and has only the last part replaced.
func completionOfSplitWordsInBash(t *testing.T) {
	serveJobs(t)
	script := scriptOf(t, "bash")
	for line, want := range map[string]string{
		"zklock -S a : 1 run --wait = 5 /l ech": "echo",
		"zklock ls --output = j":                "json",
		"zklock ls --output =":                  "json",
		"zklock show /jobs/a : b":               "bc",
		"zklock show /jobs/a :":                 "bc",
	} {
		typed := strings.NewReplacer(" : ", ":", " :", ":", " = ", "=", " =", "=").Replace(line)
		require.Contains(t, inShell(t, "bash", "--norc", "-c", `
			source "$1"; COMP_LINE=$2; COMP_WORDS=($3); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
			_zklock zklock; printf '%s\n' "${COMPREPLY[@]}"`, "test", script, typed, line), want, line)
	}
}

// Zsh's own functions of completion are replaced by those that print.
func completionInZsh(t *testing.T) {
	script := scriptOf(t, "zsh")
	requireCompleted(t, func(line []string) []string {
		return inShell(t, "zsh", append([]string{"-f", "-c", `
			compdef() { :; }
			compadd() { shift; print -l -- "$@"; }
			_describe() {
				for word in "${(@P)2}"; do print -- "${word%%:*}"; done
				(($# == 2)) || [[ $# == 4 && $3 == -S && -z $4 ]] || print "$@" >&2
			}
			_files() { print files; }
			_normal() { print -l -- ${(k)commands[(I)$words[CURRENT]*]}; }
			source "$1"; shift
			words=("$@"); CURRENT=$#; _zklock || true`, "test", script}, line...)...)
	})
}

func completionInFish(t *testing.T) {
	script := scriptOf(t, "fish")
	requireCompleted(t, func(line []string) []string {
		out := inShell(t, "fish", "--no-config", "-c",
			"source "+script+"; complete -C '"+strings.Join(line, " ")+"' | cut -f 1")
		return out
	})
}

// Shells complete command lines with what zklock prints for them.
func TestShellsCompleteCommandLines(t *testing.T) {
	for name, f := range map[string]func(t *testing.T){
		"bash": completionInBash, "words in bash": completionOfSplitWordsInBash, "zsh": completionInZsh, "fish": completionInFish,
	} {
		t.Run(name, f)
	}
}
