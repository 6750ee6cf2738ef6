//go:build real

package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/internal/thorough"
)

// TestMain turns the test binary into a worker if the program under test has
// started it as one.
func TestMain(m *testing.M) {
	if isWorker(os.Args) {
		os.Exit(workerMain(os.Args))
	}
	if os.Getenv("GORACE") == "" {
		// Otherwise each worker under the race detector waits a second at its
		// end.
		os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	thorough.Parallel(8)
	leaktest.Main(m)
}

// program runs the program with real worker processes.
func runProgram(t *testing.T, ctx context.Context, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(ctx, args, &out, &errs)
	t.Logf("leader %s: %d\n%s%s", strings.Join(args, " "), status, &out, &errs)
	return status, out.String(), errs.String()
}

func TestBadInput(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-kills", "-1"}, "-kills -1"},
		{[]string{"-every", "0s"}, "-every"},
		{[]string{"-timeout", "0s"}, "-timeout"},
		{[]string{"-session-timeout", "1ms"}, "session timeout"},
		{[]string{"-servers", "a:b:c"}, "a:b:c"},
		{[]string{"-nonsense"}, "-nonsense"},
		{[]string{"more"}, `"more"`},
	} {
		status, out, errs := runProgram(t, t.Context(), tt.args...)
		require.Equal(t, badInput, status)
		require.Empty(t, out)
		require.Contains(t, errs, tt.want)
	}
}

func TestHelp(t *testing.T) {
	status, _, errs := runProgram(t, t.Context(), "-h")
	require.Equal(t, asExpected, status)
	require.Contains(t, errs, "-session-timeout")
}

// If no server answers, the program still ends, with the reason.
func TestTimeout(t *testing.T) {
	t.Parallel()
	status, _, errs := runProgram(t, t.Context(), "-servers", "127.0.0.1:1", "-timeout", "1s")
	require.Equal(t, failed, status)
	require.Contains(t, errs, errTimeout.Error())
}

func TestInterrupt(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	status, _, errs := runProgram(t, ctx)
	require.Equal(t, failed, status)
	require.Contains(t, errs, "canceled")
}
