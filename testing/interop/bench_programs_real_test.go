//go:build real

package interop_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/kazootest"
)

// program returns the command of a peer. The address is ZooKeeper's, and is
// not used for others.
type program func(addr string, session time.Duration) *exec.Cmd

// programs find the peers, and start the servers that they need.
var programs = map[string]func(b *testing.B, addr string) (program, error){
	"curator": func(b *testing.B, _ string) (program, error) {
		java := javaCurator.get(b)
		return func(addr string, session time.Duration) *exec.Cmd {
			return java.command(nil, addr, millis(session))
		}, nil
	},
	"kazoo": func(*testing.B, string) (program, error) {
		var missing withoutKazoo
		python := kazootest.Python(&missing)
		return func(addr string, session time.Duration) *exec.Cmd {
			return exec.Command(python, filepath.Join("python", "scenarios.py"), addr, millis(session))
		}, missing.err
	},
	"etcd": func(b *testing.B, _ string) (program, error) {
		if _, err := exec.LookPath("etcd"); err != nil {
			return nil, err
		}
		// ZooKeeper's files are written, but not synced. etcd cannot be told that.
		dir, err := memoryDir(b)
		if err != nil {
			return nil, fmt.Errorf("its files cannot be in memory, and it syncs each write to a disk: %w", err)
		}
		return otherServer(b, "etcd", "etcd", func(addr string) []string {
			client, peers := "http://"+addr, "http://"+freeAddress(b)
			return []string{
				"--data-dir", dir, "--log-level", "error", "--logger", "zap",
				"--listen-client-urls", client, "--advertise-client-urls", client,
				"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default=" + peers,
			}
		})
	},
	"redis": func(b *testing.B, _ string) (program, error) {
		return otherServer(b, "redis", "redis-server", func(addr string) []string {
			host, port, err := net.SplitHostPort(addr)
			require.NoError(b, err)
			return []string{"--bind", host, "--port", port, "--dir", b.TempDir(), "--save", "", "--appendonly", "no"}
		})
	},
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// withoutKazoo remembers why kazoo is not there, and fails nothing.
type withoutKazoo struct{ err error }

func (*withoutKazoo) Helper()             {}
func (w *withoutKazoo) Fatal(args ...any) { w.err = errors.New(fmt.Sprint(args...)) }

// otherServer starts a server that is not ZooKeeper, and returns the peer of it.
func otherServer(b *testing.B, name, server string, args func(addr string) []string) (program, error) {
	if _, err := exec.LookPath(server); err != nil {
		return nil, err
	}
	peer := filepath.Join(b.TempDir(), "peers")
	build := exec.Command("go", "build", "-o", peer, ".")
	build.Dir, build.Env = filepath.Join("..", "..", "internal", "benchmarks", "peers"), append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	addr := freeAddress(b)
	if err := startServer(b, exec.Command(server, args(addr)...), addr); err != nil {
		return nil, err
	}
	return func(_ string, session time.Duration) *exec.Cmd {
		return exec.Command(peer, name, addr, millis(session))
	}, nil
}

// startServer waits until the server answers at the address. The error has what it
// has written.
func startServer(b testing.TB, cmd *exec.Cmd, addr string) error {
	log := &output{}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = dieWithParent()
	started, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		// The kernel kills the server when the thread ends that has started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait() // says how it has ended: it has to live until it is killed
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	b.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
	})
	if err := answers(withDeadline(b), addr, ended); err != nil {
		return fmt.Errorf("%s: %w: %s", cmd.Path, err, log.from(0))
	}
	return nil
}

var errServerEnded = errors.New("it has ended")

// answers waits until there is a connection, or the server has ended.
func answers(ctx context.Context, addr string, ended <-chan struct{}) error {
	for {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err == nil {
			return c.Close()
		}
		select {
		case <-ended:
			return errServerEnded
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func freeAddress(b testing.TB) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	defer listener.Close()
	return listener.Addr().String()
}

// memoryDir returns a directory in memory, if the system has a place for that. It
// ends with the benchmark. One of a program that was killed stays for a day.
func memoryDir(b testing.TB) (string, error) {
	left, _ := filepath.Glob(filepath.Join(inMemory, "curator-bench-*")) // the pattern is well-formed
	for _, dir := range left {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			os.RemoveAll(dir)
		}
	}
	dir, err := os.MkdirTemp(inMemory, "curator-bench-")
	if err == nil {
		b.Cleanup(func() { os.RemoveAll(dir) })
	}
	return dir, err
}

// inMemory is where Linux has files in memory.
const inMemory = "/dev/shm"
