package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

var update = flag.Bool("update", false, "write the golden files")

// start is when the servers of these tests begin to live.
var start = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

// stand is a server over TCP whose clock moves only when the test moves it, and
// which zklock's clock follows.
type stand struct {
	*zktest.Server
	clock    *testClock
	sessions []string // in the order in which they were opened
}

// testClock is a clock that stands still.
type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newStand(t *testing.T, opts ...zktest.Option) *stand {
	t.Helper()
	s := &stand{clock: &testClock{now: start}}
	s.Server = zktest.Start(t, append(opts, zktest.WithTCP("127.0.0.1:0"), zktest.WithWallClock(s.clock.Now))...)
	now, zone = s.clock.Now, time.UTC
	t.Cleanup(func() { now, zone = time.Now, time.Local })
	return s
}

// client returns a client with a session of its own.
func (s *stand) client(t *testing.T, opts ...framework.Option) *framework.Client {
	t.Helper()
	opts = append(opts, framework.WithSessionTimeout(time.Hour))
	c, err := framework.Connect(t.Context(), s.Addr(), opts...)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	s.sessions = append(s.sessions, fmt.Sprintf("%#x", c.SessionID()))
	return c
}

// node creates an ephemeral node as another client would. A name that ends with
// "-" or "_" gets a sequence number.
func node(t *testing.T, c *framework.Client, path, data string) string {
	t.Helper()
	mode := framework.Ephemeral
	if strings.HasSuffix(path, "-") || strings.HasSuffix(path, "_") {
		mode = framework.EphemeralSequential
	}
	created, err := c.Create(t.Context(), path, []byte(data), framework.WithMode(mode), framework.WithParents())
	require.NoError(t, err)
	return created.Path
}

// identity is what a node of this library says of its owner.
func identity(service string, pid int) string {
	return fmt.Sprintf(`{"v":1,"host":"web-1","pid":%d,"service":%q,"since":"2026-01-02T15:04:05.678Z",`+
		`"trace":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}`, pid, service)
}

// guid makes the names of nodes unique, and the same in each run.
func guid(n int) string { return fmt.Sprintf("_c_3e5a60df-061d-4981-a166-%012x-", n) }

// result is what a run of zklock has left.
type result struct {
	status   int
	out, err string
}

// zklock runs a command line against the server.
func (s *stand) zklock(t *testing.T, args ...string) result {
	t.Helper()
	return s.zklockWith(t, t.Context(), strings.NewReader(""), args...)
}

func (s *stand) zklockWith(t *testing.T, ctx context.Context, in io.Reader, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	status := run(ctx, append([]string{"-S", s.Addr()}, args...), streams{in, &out, &errs})
	return result{status, s.plain(out.String()), s.plain(errs.String())}
}

// plain replaces what is different in each run: session ids.
func (s *stand) plain(text string) string {
	for i, id := range s.sessions {
		text = strings.ReplaceAll(text, id, fmt.Sprintf("0x1000a2b3c4d0%04d", i+1))
	}
	return text
}

// requireGolden compares what a command has printed with a file.
func requireGolden(t *testing.T, name, got string) {
	t.Helper()
	file := "testdata/" + name
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o777))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o666))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got, name)
}

// shop has a lock of each kind: of this library, of Java's and of kazoo's.
func shop(t *testing.T) *stand {
	t.Helper()
	s := newStand(t)
	orders, billing, java, importer := s.client(t), s.client(t), s.client(t), s.client(t)
	node(t, orders, "/jobs/bill/"+guid(1)+"lock-", identity("orders", 4711))
	node(t, java, "/rw/"+guid(2)+"__READ__", "10.0.0.7")
	node(t, orders, "/lead/"+guid(3)+"latch-", "node-1")
	s.clock.Advance(time.Minute)
	node(t, billing, "/jobs/bill/"+guid(4)+"lock-", identity("billing", 4712))
	node(t, java, "/jobs/bill/"+guid(5)+"lock-", "10.0.0.7")
	node(t, importer, "/gate/leases/"+guid(6)+"lease-", identity("import", 4713))
	node(t, orders, "/gate/locks/"+guid(7)+"lock-", identity("orders", 4711))
	node(t, orders, "/gate/leases/"+guid(8)+"lease-", identity("orders", 4711))
	node(t, java, "/kazoo/0af7651916cd43dd8448eb211c80319c__lock__", "py")
	node(t, java, "/up/web-1", "10.0.0.7:80")
	_, err := orders.Create(t.Context(), "/gate-limit", []byte{0, 0, 0, 1})
	require.NoError(t, err)
	s.clock.Advance(2*time.Hour + 10*time.Second)
	return s
}
