package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// zombies returns the children of a process that have ended and were not
// waited for.
func zombies(t *testing.T, parent int) (found []string) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	require.NotEmpty(t, stats)
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it is gone
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		if strings.HasPrefix(rest, "Z "+strconv.Itoa(parent)+" ") {
			found = append(found, string(stat))
		}
	}
	return found
}

// A command leaves a process in a session of its own, whose parent has ended.
// Nobody but zklock can wait for it.
func TestElectReapsOrphansOfEarlierCommands(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	l := newLife(t)
	p := startProcess(t, srv, "elect", "--restart", "/el", "--", "sh", "-c",
		`if mkdir "$0.first"; then (setsid sh -c 'echo orphan >"$0"' "$0" &) fi 2>/dev/null
		echo leading; read x; exit 7`, l.path)
	require.Equal(t, "leading", p.line())
	require.Equal(t, "orphan", l.line())
	l.end()
	_, err := p.stdin.Write([]byte("\n"))
	require.NoError(t, err)
	require.Equal(t, "leading", p.line())
	require.Empty(t, zombies(t, p.cmd.Process.Pid))
	require.Contains(t, p.stderr.String(), "standing again: the command has ended with status 7")
	require.NoError(t, p.cmd.Process.Kill())
}
