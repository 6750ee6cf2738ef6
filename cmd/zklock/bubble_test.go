package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/cmd/zklock/internal/child"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

var update = flag.Bool("update", false, "write the golden files")

// start is when the bubbles of these tests begin to live.
var start = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

// inBubble runs a test in virtual time, from start on.
func inBubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(start))
		f(t)
	})
}

// stand is a server in a bubble, and the machine on which zklock runs.
type stand struct {
	*zktest.Server
	sessions []string           // in the order in which they were opened
	dial     framework.DialFunc // in place of the server's network, if it is set
	refuses  error              // what the system returns when a command is started, or nil
	parent   chan struct{}      // the end of zklock's parent, which is process 5; nil if it is process 1
}

func newStand(t *testing.T, opts ...zktest.Option) *stand {
	t.Helper()
	return &stand{Server: zktest.Start(t, opts...)}
}

// host returns the machine on which a zklock runs. Its commands are in r.commands,
// and r.signal sends it signals.
func (s *stand) host(r *running) host {
	parent := 1
	if s.parent != nil {
		parent = 5
	}
	return host{
		dial:    s.dialTo,
		start:   r.startCommand,
		prepare: func() func() { return func() {} },
		parent:  parent,
		ended:   func(int) <-chan struct{} { return s.parent },
		tells:   func(in io.Reader) bool { _, ok := in.(*io.PipeReader); return ok && s.parent == nil },
		notify:  r.notify,
		forget:  func(chan<- os.Signal) {},
	}
}

// dialTo connects to the server, and to no other one.
func (s *stand) dialTo(ctx context.Context, network, address string) (net.Conn, error) {
	switch {
	case address != s.Addr():
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	case s.dial != nil:
		return s.dial(ctx, network, address)
	}
	return s.dialServer(ctx, network)
}

// Addr returns the address that zklock gets, for which a certificate can be issued.
func (s *stand) Addr() string { return "127.0.0.1:2181" }

func (s *stand) dialServer(ctx context.Context, network string) (net.Conn, error) {
	return s.Dialer()(ctx, network, s.Server.Addr())
}

// client returns a client of the server, whose session is long.
func (s *stand) client(t *testing.T, opts ...framework.Option) *framework.Client {
	t.Helper()
	opts = append(opts, framework.WithSessionTimeout(time.Hour), framework.WithDialer(s.Dialer()))
	c, err := framework.Connect(t.Context(), s.Server.Addr(), opts...)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	s.sessions = append(s.sessions, fmt.Sprintf("%#x", c.SessionID()))
	return c
}

// hold holds a mutex until the test ends, or release is called.
func (s *stand) hold(t *testing.T, path string) (lease *locks.Lease, release func()) {
	t.Helper()
	c := s.client(t, framework.WithServiceName("the-test"))
	lease, err := locks.NewInterProcessMutex(c, path).Acquire(t.Context())
	require.NoError(t, err)
	return lease, func() { require.NoError(t, lease.Release(t.Context())) }
}

// first is the first node in the queue of a lock.
func (s *stand) first(t *testing.T, path string) zktest.Node {
	t.Helper()
	queue := s.Queue(path)
	require.NotEmpty(t, queue)
	return queue[0]
}

// lose ends a lock: its session, or its node alone.
func (s *stand) lose(t *testing.T, path string) { require.NoError(t, s.Delete(s.first(t, path).Path)) }
func (s *stand) expire(t *testing.T, path string) {
	require.True(t, s.Session(s.first(t, path).Stat.EphemeralOwner).Expire())
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

// zklock runs a command line against the server, until it ends.
func (s *stand) zklock(t *testing.T, args ...string) result {
	t.Helper()
	return s.begin(t, strings.NewReader(""), args...).wait()
}

// printTo runs a command line against the server, and returns its status. Its
// output goes to a writer.
func (s *stand) printTo(t *testing.T, out io.Writer, args ...string) int {
	t.Helper()
	r := &running{t: t, s: s, err: &text{}}
	s.beginWith(t, r, streams{nil, out, r.err}, args...)
	return <-r.ended
}

// inProcess runs a command line without a server.
func inProcess(args ...string) (status int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	status = run(context.Background(), args, streams{strings.NewReader(""), &out, &errOut}, thisHost())
	return status, out.String(), errOut.String()
}

// running is a zklock that runs in the bubble.
type running struct {
	t        *testing.T
	s        *stand
	stdin    *io.PipeWriter // nil if there is none
	out, err *text
	commands chan *puppet // those that were started
	ended    chan int     // has the status

	mu      sync.Mutex
	signals []chan<- os.Signal
}

// text is a buffer that one goroutine writes and another reads.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *text) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *text) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// start starts a zklock, whose standard input is a pipe, and returns when it has
// come as far as it comes by itself.
func (s *stand) start(t *testing.T, args ...string) *running {
	t.Helper()
	in, stdin := io.Pipe()
	t.Cleanup(func() { stdin.Close() })
	r := s.begin(t, in, args...)
	r.stdin = stdin
	synctest.Wait()
	return r
}

func (s *stand) begin(t *testing.T, in io.Reader, args ...string) *running {
	r := &running{t: t, s: s, out: &text{}, err: &text{}}
	s.beginWith(t, r, streams{in, r.out, r.err}, args...)
	return r
}

// beginWith starts a zklock with these streams.
func (s *stand) beginWith(t *testing.T, r *running, with streams, args ...string) {
	r.commands, r.ended = make(chan *puppet, 10), make(chan int, 1)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go func() { r.ended <- run(ctx, append([]string{"-S", s.Addr()}, args...), with, s.host(r)) }()
}

// signal sends a signal to the program, and returns when the program has acted on
// it.
func (r *running) signal(sig syscall.Signal) {
	r.t.Helper()
	r.send(sig)
	synctest.Wait()
}

// send sends a signal.
func (r *running) send(sig syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	require.NotEmpty(r.t, r.signals)
	r.signals[len(r.signals)-1] <- sig
}

// notify is signal.Notify for one channel at a time.
func (r *running) notify(c chan<- os.Signal, _ ...os.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.signals = append(r.signals, c)
}

// command returns the command that was started, and that no call has returned.
func (r *running) command() *puppet {
	r.t.Helper()
	select {
	case p := <-r.commands:
		return p
	case status := <-r.ended:
		require.FailNow(r.t, "no command", "status %d: %s", status, r.err)
		return nil
	}
}

// wait returns what is left when the program has ended.
func (r *running) wait() result {
	status := <-r.ended
	return result{status, r.s.plain(r.out.String()), r.s.plain(r.err.String())}
}

// finish is wait for a program that is expected to end with a status.
func (r *running) finish(status int) result {
	r.t.Helper()
	got := r.wait()
	require.Equal(r.t, status, got.status, "stdout: %s\nstderr: %s", got.out, got.err)
	return got
}

// puppet is a command in the bubble. It does what the test says, but ends when
// it is killed. What it gets is in got: the names of signals.
type puppet struct {
	child.Command
	got chan string

	exited, gone chan struct{}
	refused      chan int
	status       int
	guardDied    bool
	immortal     bool // KILL does not end it
	once         sync.Once
}

func (r *running) startCommand(c child.Command) (process, error) {
	if err := c.Ready(); err != nil {
		return nil, err
	}
	if r.s.refuses != nil {
		return nil, r.s.refuses
	}
	p := &puppet{Command: c, got: make(chan string, 100), refused: make(chan int, 1)}
	p.exited, p.gone = make(chan struct{}), make(chan struct{})
	r.t.Cleanup(func() { p.end(0) }) // of a test that has failed
	r.commands <- p
	return p, nil
}

func (p *puppet) Exited() <-chan struct{} { return p.exited }
func (p *puppet) Gone() <-chan struct{}   { return p.gone }
func (p *puppet) Refused() <-chan int     { return p.refused }
func (p *puppet) Status() int             { return p.status }
func (p *puppet) GuardDied() bool         { return p.guardDied }
func (p *puppet) Signal(sig os.Signal)    { p.got <- sig.String() }
func (p *puppet) Terminate()              { p.got <- "TERM" }

func (p *puppet) Kill() {
	p.got <- "KILL"
	if !p.immortal {
		p.end(128 + int(syscall.SIGKILL))
	}
}

// exit ends the command, and leaves something of it behind.
func (p *puppet) exit(status int) { p.once.Do(func() { p.status = status; close(p.exited) }) }

// end ends the command, and all that it has started.
func (p *puppet) end(status int) {
	p.exit(status)
	select {
	case <-p.gone:
	default:
		close(p.gone)
	}
}

// heard returns all that the command has got by now.
func (p *puppet) heard() (all []string) {
	synctest.Wait()
	for {
		select {
		case name := <-p.got:
			all = append(all, name)
		default:
			return all
		}
	}
}

// variable returns a variable of the command's environment.
func (p *puppet) variable(name string) string {
	for _, v := range p.Env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
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
	time.Sleep(time.Minute)
	node(t, billing, "/jobs/bill/"+guid(4)+"lock-", identity("billing", 4712))
	node(t, java, "/jobs/bill/"+guid(5)+"lock-", "10.0.0.7")
	node(t, importer, "/gate/leases/"+guid(6)+"lease-", identity("import", 4713))
	node(t, orders, "/gate/locks/"+guid(7)+"lock-", identity("orders", 4711))
	node(t, orders, "/gate/leases/"+guid(8)+"lease-", identity("orders", 4711))
	node(t, java, "/kazoo/0af7651916cd43dd8448eb211c80319c__lock__", "py")
	node(t, java, "/up/web-1", "10.0.0.7:80")
	time.Sleep(2*time.Hour + 10*time.Second)
	return s
}
