//go:build real

package interop_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/kazootest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// Promise: A mutex WithKazooNames and the Lock of kazoo processes, which need no change,
// exclude each other.
func TestKazooAndGoShareALock(t *testing.T) {
	python := kazootest.Python(t)
	t.Parallel()
	t.Run("zktest", func(t *testing.T) {
		t.Parallel()
		srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
		shareALock(t, python, srv.Addr())
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		shareALock(t, python, sharedServer(t).Addr())
	})
}

func shareALock(t *testing.T, python, addr string) {
	t.Helper()
	const times = 200
	path := lockPath(t)
	inside := path + "-inside"
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	client, err := framework.Connect(ctx, addr)
	require.NoError(t, err)
	defer client.Close()
	_, err = client.Create(ctx, path, nil, framework.WithParents())
	require.NoError(t, err)
	cmd := exec.CommandContext(ctx, python, filepath.Join("python", "shared_lock.py"), addr, path, inside, strconv.Itoa(times))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "entered\n", line)
	mutex := locks.NewInterProcessMutex(client, path, locks.WithKazooNames())
	for range times {
		require.NoError(t, mutex.Do(ctx, func(ctx context.Context) error {
			if _, err := client.Create(ctx, inside, nil, framework.WithMode(framework.Ephemeral)); err != nil {
				return err
			}
			return client.Delete(ctx, inside, framework.AnyVersion)
		}))
	}
	require.NoError(t, cmd.Wait())
}
