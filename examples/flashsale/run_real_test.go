//go:build real

package main

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/internal/zkserver"
)

// runProgram runs the program with real worker processes.
func runProgram(t *testing.T, ctx context.Context, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(ctx, args, &out, &errs)
	t.Logf("flashsale %s: %d\n%s%s", strings.Join(args, " "), status, &out, &errs)
	return status, out.String(), errs.String()
}

// longThink is for workers all of which must have read before one of them writes.
const longThink = "8s"

func TestStory(t *testing.T) {
	status, out, errs := runProgram(t, t.Context())
	require.Equal(t, demo.AsExpected, status)
	require.Empty(t, errs)
	require.Len(t, regexp.MustCompile(`order-. .* SOLD`).FindAllString(out, -1), 1)
	require.Equal(t, 3, strings.Count(out, "refused, 0 left"))
	require.True(t, strings.HasSuffix(out, "\nbooks balance\n"))
	require.LessOrEqual(t, strings.Count(out, "\n"), 25, "one screen")
}

func TestUnsafe(t *testing.T) {
	t.Parallel()
	status, out, _ := runProgram(t, t.Context(), "-unsafe", "-think", longThink)
	require.Equal(t, demo.AsExpected, status)
	require.True(t, strings.HasSuffix(out, "\nOVERSOLD by 300\n"))
}

func TestCrash(t *testing.T) {
	t.Parallel()
	for at, answer := range map[moment]string{
		beforeWrite: `order-1 +berlin \(process 2\) +sneaker +100 +refused, 0 left`,
		afterWrite:  `order-1 +berlin \(process 2\) +sneaker +100 +SOLD, as found in the ledger`,
	} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			status, out, _ := runProgram(t, t.Context(), "-crash", string(at))
			require.Equal(t, demo.AsExpected, status)
			require.Regexp(t, answer, out)
			require.Equal(t, 3, strings.Count(out, "refused, 0 left"))
			longest, err := time.ParseDuration(regexp.MustCompile(`longest wait was (\S+);`).FindStringSubmatch(out)[1])
			require.NoError(t, err)
			require.GreaterOrEqual(t, longest, sessionTimeout/4, "the others waited for the dead worker")
		})
	}
}

func TestRealServer(t *testing.T) {
	t.Parallel()
	srv := zkserver.Start(t)
	for _, args := range [][]string{
		{"-crash", "before-write"}, {"-crash", "after-write"}, {"-unsafe", "-think", longThink},
	} {
		status, _, _ := runProgram(t, t.Context(), append(args, "-servers", srv.Addr()+"/")...)
		require.Equal(t, demo.AsExpected, status)
	}
}

func TestInvalidFlags(t *testing.T) {
	for _, args := range [][]string{
		{"-crash", "later"}, {"-unsafe", "-crash", "after-write"}, {"-crash", "after-write", "-unsafe"},
	} {
		status, _, errs := runProgram(t, t.Context(), args...)
		require.Equal(t, demo.BadInput, status)
		require.Contains(t, errs, "-crash")
	}
}
