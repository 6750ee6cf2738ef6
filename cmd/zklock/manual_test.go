package main

import (
	"flag"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// withoutEnvironment makes the help independent of the tester's settings.
func withoutEnvironment(t *testing.T) {
	t.Helper()
	for _, name := range []string{"ZKLOCK_SERVERS", "ZOOKEEPER_SERVERS", "NO_COLOR", "TERM"} {
		t.Setenv(name, "")
	}
}

// The page of all commands is what the commands say of themselves: go generate
// makes it.
func TestCommandsPageIsGenerated(t *testing.T) {
	withoutEnvironment(t)
	got := runWith(t, "man", "--markdown")
	require.Zero(t, got.status)
	want, err := os.ReadFile("COMMANDS.md")
	require.NoError(t, err)
	require.Equal(t, string(want), got.out, "run go generate ./cmd/zklock")
}

// The help of the operators' commands fits a terminal of 24 lines with 80
// columns.
func TestHelpOfOperatorsFits24Lines(t *testing.T) {
	withoutEnvironment(t)
	for _, name := range commandNames() {
		if name == "run" || name == "elect" {
			continue
		}
		got := runWith(t, "help", name)
		require.Zero(t, got.status)
		require.LessOrEqual(t, strings.Count(got.out, "\n"), 24, name)
		for line := range strings.Lines(got.out) {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 81, "%s: %s", name, line)
		}
		require.Contains(t, got.out, "Usage: zklock "+name)
	}
}

func requireInManual(t *testing.T, manual string, f *flag.Flag) {
	t.Helper()
	dashes := `\-\-`[:min(2*len(f.Name), 4)]
	require.Contains(t, manual, dashes+strings.ReplaceAll(f.Name, "-", `\-`))
}

// The manual has every command and every flag.
func TestManual(t *testing.T) {
	withoutEnvironment(t)
	got := runWith(t, "man")
	require.Zero(t, got.status)
	fs := &flag.FlagSet{}
	defaults().define(fs)
	for _, c := range commands() {
		require.Contains(t, got.out, ".SS zklock "+c.Name)
		own := &flag.FlagSet{}
		c.Define(own)
		own.VisitAll(func(f *flag.Flag) { requireInManual(t, got.out, f) })
	}
	fs.VisitAll(func(f *flag.Flag) { requireInManual(t, got.out, f) })
}
