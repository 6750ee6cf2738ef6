package main

import (
	"fmt"
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
	helpOf := func(name ...string) string {
		got := runWith(t, append([]string{"help"}, name...)...)
		require.Zero(t, got.status)
		return "```\n" + got.out + "```\n"
	}
	page := "# Commands of zklock\n\nMade by `go generate` from the texts that `zklock help` shows.\n\n" + helpOf()
	for _, name := range commandNames() {
		page += fmt.Sprintf("\n## %s\n\n%s", name, helpOf(name))
	}
	if *update {
		require.NoError(t, os.WriteFile("COMMANDS.md", []byte(page), 0o666))
	}
	want, err := os.ReadFile("COMMANDS.md")
	require.NoError(t, err)
	require.Equal(t, string(want), page, "run go generate ./cmd/zklock")
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
