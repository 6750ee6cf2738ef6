//go:build real

package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkserver"
)

// takeOver matches the time it took to replace a leader that was killed.
var takeOver = regexp.MustCompile(`LEADS with fencing token \d+, (\S+) after the signal`)

func takeOvers(t *testing.T, out string) []time.Duration {
	t.Helper()
	var all []time.Duration
	for _, match := range takeOver.FindAllStringSubmatch(out, -1) {
		d, err := time.ParseDuration(match[1])
		require.NoError(t, err)
		all = append(all, d)
	}
	return all
}

// session is long enough that a live process is not taken for dead when it
// pauses for a while, and longSession for one that nobody kills.
const session, longSession = 12 * time.Second, time.Minute

// requireStory requires that the leader was killed the given number of times
// and that only the last one handed over. When a leader was killed, up to a
// third of its session may already have passed since the server last heard from
// it.
func requireStory(t *testing.T, out string, kills int, session time.Duration) {
	t.Helper()
	waits := takeOvers(t, out)
	require.Len(t, waits, kills)
	for _, d := range waits[:kills-1] {
		require.Greater(t, d, session/4, "the others waited for the dead leader")
	}
	require.Less(t, waits[kills-1], session/2, "a hand-over does not wait for the session's end")
	require.Equal(t, kills-1, strings.Count(out, "is killed"))
	require.Contains(t, out, strconv.Itoa(kills+1)+" leaderships")
	require.Contains(t, out, `"leading":`)
}

func TestStory(t *testing.T) {
	t.Parallel()
	const kills = 3
	status, out, errs := runProgram(t, t.Context(), "-timeout", "3m", "-session-timeout", session.String())
	require.Equal(t, asExpected, status)
	require.Empty(t, errs)
	requireStory(t, out, kills, session)
	require.LessOrEqual(t, strings.Count(out, "\n"), 50, "one screen")
}

func TestRealServer(t *testing.T) {
	t.Parallel()
	srv := zkserver.Start(t)
	status, out, _ := runProgram(t, t.Context(),
		"-servers", srv.Addr(), "-kills", "2", "-session-timeout", session.String(), "-timeout", "3m")
	require.Equal(t, asExpected, status)
	requireStory(t, out, 2, session)
}

// With -stay the user kills the leader. Another worker replaces it, and the
// killed one is started again. Ctrl-C ends the program with the expected
// status.
func TestStay(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	r, w := io.Pipe()
	ended := make(chan int)
	go func() {
		status := run(ctx, []string{"-stay", "-session-timeout", session.String()}, w, t.Output())
		w.Close()
		ended <- status
	}()
	pids := map[string]int{}
	started := regexp.MustCompile(`(\w+) +is started(?: again)?: process (\d+),`)
	leads := regexp.MustCompile(`(\w+) +LEADS`)
	// The leader has led for two seconds, so the others have queued.
	settled := regexp.MustCompile(`heartbeat \d{2}`)
	var leaders []string
	var killed bool
	for lines := bufio.NewScanner(r); lines.Scan(); {
		t.Log(lines.Text())
		if match := started.FindStringSubmatch(lines.Text()); match != nil {
			pids[match[1]], _ = strconv.Atoi(match[2])
		}
		if match := leads.FindStringSubmatch(lines.Text()); match != nil {
			leaders = append(leaders, match[1])
			if len(leaders) == 2 {
				interrupt()
			}
		}
		if !killed && settled.MatchString(lines.Text()) {
			killed = true
			p, err := os.FindProcess(pids[leaders[0]])
			require.NoError(t, err)
			require.NoError(t, p.Kill())
		}
	}
	require.Equal(t, asExpected, <-ended)
	require.Len(t, leaders, 2)
	require.NotEqual(t, leaders[0], leaders[1])
}
