//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkserver"
)

// shells count beside each other.
const shells = 8

// few is how often each shell counts with the race detector, with which a
// program takes a second to start.
const few = 3

// count has shells that add 1 to a number in a file, under a lock that alone
// keeps them apart. Each shell counts the given number of times.
func count(t *testing.T, srv addr, path string, each int) {
	file := filepath.Join(t.TempDir(), "counter")
	require.NoError(t, os.WriteFile(file, []byte("0\n"), 0o600))
	if raceDetector {
		each = few
	}
	script := `i=0; while [ $i -lt ` + strconv.Itoa(each) + ` ]; do
		"$0" run -w 120 "$1" -- sh -c 'read n <"$0"; echo $((n + 1)) >"$0"' "$2" || exit 1
		i=$((i + 1)); done`
	var wg sync.WaitGroup
	for range shells {
		wg.Go(func() {
			cmd := exec.Command("sh", "-c", script, program, path, file)
			cmd.Env = append(os.Environ(), "ZKLOCK_SERVERS="+srv.Addr(), "GORACE=atexit_sleep_ms=0")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, strconv.Itoa(shells*each), strings.TrimSpace(string(got)))
}

func TestACounterUnderTheLockIsExact(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	count(t, srv, "/counter", thorough.Size(15, 6))
	require.Empty(t, srv.Children("/counter"))
}

func TestACounterUnderTheLockIsExactOnARealServer(t *testing.T) {
	thorough.OnRealServers(t)
	t.Parallel()
	count(t, zkserver.Shared(t), "/counter-"+strconv.Itoa(os.Getpid()), thorough.Size(25, 6))
}
