//go:build real && unix

package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkserver"
)

// TestMain turns the test binary into a teller if the program under test has started it
// as one.
func TestMain(m *testing.M) {
	runIfTeller()
	thorough.Parallel(4)
	leaktest.Main(m)
}

const stopped = `alice has the lock, and reads a balance of 100.
alice is stopped (SIGSTOP). bob waits until her session times out.
bob has the lock, and reads a balance of 100.
bob writes the new balance, and pays out.
alice goes on (SIGCONT), and knows nothing of that.
`

const fenced = stopped + `alice writes the new balance. The database refuses: stale fencing token.
The account had 100. 60 was paid out, and 40 is left: 0 is lost.
`

// Promise: a holder that is stopped past the end of its session, and then goes on with
// its write, is refused by the database. Without the fence, the same write is applied.
func TestStory(t *testing.T) {
	for name, tt := range map[string]struct {
		args   []string
		status int
		out    string
		errs   string
	}{
		"fenced": {nil, demo.AsExpected, fenced, ""},
		"unfenced": {[]string{"-unfenced"}, moneyLost, stopped + `alice writes the new balance, and pays out.
The account had 100. 120 was paid out, and 40 is left: 60 is lost.
`, ""},
		"too little time": {[]string{"-timeout", "1s"}, demo.Failed, "", "not done in time"},
		"unknown flag":    {[]string{"-nonsense"}, demo.BadInput, "", "-nonsense"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, out, errs := runProgram(t, tt.args...)
			require.Equal(t, tt.status, status)
			if tt.out != "" {
				require.Equal(t, tt.out, out)
			}
			require.Contains(t, errs, tt.errs)
		})
	}
}

func TestRealServer(t *testing.T) {
	t.Parallel()
	status, out, _ := runProgram(t, "-servers", zkserver.Start(t).Addr())
	require.Equal(t, demo.AsExpected, status)
	require.Equal(t, fenced, out)
}

func runProgram(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(t.Context(), args, &out, &errs)
	t.Logf("%d\n%s%s", status, &out, &errs)
	return status, out.String(), errs.String()
}
