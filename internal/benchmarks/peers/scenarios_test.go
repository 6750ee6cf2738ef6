package main

import (
	"context"
	"errors"
	"net"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// inProcess is a library whose locks are in this process. It counts what is done.
type inProcess struct {
	mu       sync.Mutex
	held     map[string]chan struct{} // has one entry while the lock is held
	clients  int
	acquired int
	refused  int
}

func (l *inProcess) connect(context.Context) (client, error) {
	l.clients++
	return inProcessClient{l}, nil
}

type inProcessClient struct{ of *inProcess }

func (inProcessClient) close() {}

func (c inProcessClient) mutex(path string) mutex {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.of.held[path] == nil {
		c.of.held[path] = make(chan struct{}, 1)
	}
	return inProcessMutex{c.of, c.of.held[path]}
}

type inProcessMutex struct {
	of   *inProcess
	held chan struct{}
}

func (m inProcessMutex) acquire(ctx context.Context) error {
	select {
	case m.held <- struct{}{}:
		m.of.count(&m.of.acquired)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m inProcessMutex) try(context.Context) (bool, error) {
	select {
	case m.held <- struct{}{}:
		return true, nil
	default:
		m.of.count(&m.of.refused)
		return false, nil
	}
}

func (m inProcessMutex) release(context.Context) error {
	<-m.held
	return nil
}

func (l *inProcess) count(n *int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*n++
}

// Each scenario does as much as it says, and leaves no lock held.
func TestScenarios(t *testing.T) {
	for name, want := range map[string]struct{ times, acquired, refused int }{
		"one":       {7, 7, 0},
		"own":       {2, 128, 0},
		"sessions":  {2, 16, 0},
		"hand-over": {15, 16, 0}, // for longer than the limit below
		"try":       {5, 1, 5},
	} {
		l := &inProcess{held: map[string]chan struct{}{}}
		p := &peer{library: l}
		took, err := p.scenario(t.Context(), name, "/a", want.times)
		require.NoError(t, err, name)
		require.Positive(t, took, name)
		require.Less(t, took, 2*time.Second, "%s: what queues is no part of the time", name)
		require.Equal(t, []int{want.acquired, want.refused}, []int{l.acquired, l.refused}, name)
		for path, held := range l.held {
			require.Empty(t, held, "%s leaves %s held", name, path)
		}
	}
	_, err := (&peer{library: &inProcess{held: map[string]chan struct{}{}}}).scenario(t.Context(), "none", "/a", 1)
	require.ErrorContains(t, err, "no such scenario")
}

// The same with the servers that are installed.
func TestScenariosOfServers(t *testing.T) {
	for name, start := range map[string]func(addr, other, dir string) *exec.Cmd{
		"etcd": func(addr, other, dir string) *exec.Cmd {
			return exec.Command("etcd", "--data-dir", dir, "--listen-client-urls", "http://"+addr, "--advertise-client-urls", "http://"+addr,
				"--listen-peer-urls", "http://"+other, "--initial-advertise-peer-urls", "http://"+other, "--initial-cluster", "default=http://"+other)
		},
		"redis": func(addr, _, dir string) *exec.Cmd {
			host, port, _ := net.SplitHostPort(addr)
			return exec.Command("redis-server", "--bind", host, "--port", port, "--dir", dir, "--save", "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			addr := freeAddress(t)
			cmd := start(addr, freeAddress(t), t.TempDir())
			if errors.Is(cmd.Err, exec.ErrNotFound) {
				t.Skip(cmd.Err)
			}
			require.NoError(t, cmd.Start())
			t.Cleanup(func() {
				cmd.Process.Kill()
				cmd.Wait() // says that it was killed
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			library, err := named(name, addr, 10*time.Second)
			require.NoError(t, err)
			p := &peer{library: library}
			require.Eventually(t, func() bool { _, err := p.of(ctx, 1); return err == nil }, time.Minute, 50*time.Millisecond)
			t.Cleanup(p.close)
			for _, scenario := range []string{"one", "own", "sessions", "hand-over", "try"} {
				took, err := p.scenario(ctx, scenario, "/a", 2)
				require.NoError(t, err, scenario)
				require.Positive(t, took, scenario)
			}
		})
	}
}

func freeAddress(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().String()
}
