//go:build real

package interop_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// envServers turns the test program into a process with one client of the
// servers that the variable names; see serveRounds.
const envServers = "INTEROP_BENCH_SERVERS"

// processRounds returns the rounds of a crowd of one in a process of its own.
func processRounds(b testing.TB, addr string, who crowd) round {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envServers+"="+addr)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(b, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		stdin.Close()
		require.NoError(b, cmd.Wait())
	})
	answers := bufio.NewScanner(stdout)
	return func() (time.Duration, error) {
		fmt.Fprintln(stdin, who.cycles)
		if !answers.Scan() {
			return 0, fmt.Errorf("the process has ended: %w", answers.Err())
		}
		return time.ParseDuration(answers.Text())
	}
}

// serveRounds runs that process. For each number on stdin it acquires and
// releases that many times, and prints how long that took. It ends with stdin.
func serveRounds(addr string) error {
	c, err := framework.New(addr, framework.WithSessionTimeout(longSession))
	if err != nil {
		return err
	}
	defer c.Close()
	mutex := locks.NewInterProcessMutex(c, goPath(0))
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		n, err := strconv.Atoi(strings.TrimSpace(lines.Text()))
		if err != nil {
			return err
		}
		start := time.Now()
		if err := cycles(context.Background(), mutex, n); err != nil {
			return err
		}
		fmt.Println(time.Since(start))
	}
	return nil
}

// together returns rounds in which several crowds begin at the same time.
func together(crowds []round) round {
	return func() (time.Duration, error) {
		var all sync.WaitGroup
		errs := make([]error, len(crowds))
		start := time.Now()
		for i, round := range crowds {
			all.Go(func() { _, errs[i] = round() })
		}
		all.Wait()
		took := time.Since(start)
		for _, err := range errs {
			if err != nil {
				return 0, err
			}
		}
		return took, nil
	}
}
