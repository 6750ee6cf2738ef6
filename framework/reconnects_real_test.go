//go:build real

package framework_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/retry"
)

// A client is disconnected hundreds of times, anywhere in a frame, of a
// handshake too, while it works. Then:
//
//  1. every operation has returned;
//  2. every watch has fired: each reader has followed the node to its end, and
//     never backwards;
//  3. no read has shown a change before the watch for it has fired;
//  4. the session is the one that it was.
//
// With go-zookeeper alone, this test would meet a data race (lastZxid), a lost
// watch, and a hang.
func TestRealServerHundredsOfReconnectsUnderLoad(t *testing.T) {
	reconnects := thorough.Size(200, 40)
	t.Parallel()
	srv := sharedServer(t)
	ctx := within(t, stuck)
	undisturbed, err := framework.New(srv.Addr()+chroot(t), framework.WithSessionTimeout(time.Minute))
	require.NoError(t, err)
	defer undisturbed.Close()
	_, err = undisturbed.Create(ctx, "/followed", nil)
	require.NoError(t, err)

	net := &faultyNetwork{addr: srv.Addr(), left: reconnects, over: make(chan struct{})}
	c, err := framework.New(manyNames()+chroot(t), framework.WithSessionTimeout(time.Minute),
		framework.WithDialer(net.dial), framework.WithRetry(retry.Exponential(time.Millisecond, 20*time.Millisecond, 5)))
	require.NoError(t, err)
	defer c.Close()
	l := &load{t: t, ctx: ctx, c: c, undisturbed: undisturbed, over: net.over}
	require.NoError(t, c.WaitConnected(ctx))
	session := c.SessionID()

	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() { l.follow("/followed", i%2 == 0) })
	}
	l.lead("/followed")
	all.Wait()
	require.Equal(t, session, c.SessionID())
	require.GreaterOrEqual(t, int(net.dialed.Load()), reconnects)
	require.Positive(t, l.events.Load())
}

// manyNames are so many servers that the client, which pauses after each round,
// hardly does. All are one: see faultyNetwork.
func manyNames() string {
	var names []string
	for i := range 60 {
		names = append(names, fmt.Sprint("server-", i))
	}
	return strings.Join(names, ",")
}

// faultyNetwork makes connections to one server that break, until it has made
// enough of them.
type faultyNetwork struct {
	addr string

	mu     sync.Mutex
	left   int
	dialed atomic.Int32
	over   chan struct{} // closed when connections break no more
}

func (n *faultyNetwork) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, n.addr)
	if err != nil {
		return nil, err
	}
	n.dialed.Add(1)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.left == 0 {
		return conn, nil
	}
	if n.left--; n.left == 0 {
		close(n.over)
	}
	f := &faultyConn{Conn: conn}
	f.reads.Store(bytesUntilFault())
	f.writes.Store(bytesUntilFault())
	return f, nil
}

// bytesUntilFault returns after how many bytes a connection breaks: a few may
// not be enough for the handshake.
func bytesUntilFault() int64 { return 20 + rand.Int64N(1<<(6+rand.IntN(11))) }

// faultyConn breaks after a number of bytes in either direction.
type faultyConn struct {
	net.Conn
	reads, writes atomic.Int64
}

func (f *faultyConn) Read(p []byte) (int, error) {
	left := f.reads.Load()
	if left <= 0 {
		return 0, f.fail()
	}
	n, err := f.Conn.Read(p[:min(int64(len(p)), left)])
	f.reads.Add(-int64(n))
	return n, err
}

func (f *faultyConn) Write(p []byte) (int, error) {
	fits := min(int64(len(p)), max(f.writes.Load(), 0))
	n, err := f.Conn.Write(p[:fits])
	f.writes.Add(-int64(n))
	if err == nil && n < len(p) {
		err = f.fail()
	}
	return n, err
}

func (f *faultyConn) fail() error {
	_ = f.Close()
	return io.ErrUnexpectedEOF
}

// load is what a client does meanwhile.
type load struct {
	t              *testing.T
	ctx            context.Context
	c, undisturbed *framework.Client
	over           <-chan struct{}

	events atomic.Int64
}

func (l *load) done() bool {
	select {
	case <-l.over:
		return true
	default:
		return l.ctx.Err() != nil
	}
}

const end = "end"

// lead changes a node that others follow, whether they are connected or not,
// and ends with a last word.
func (l *load) lead(path string) {
	for last := false; !last; {
		last = l.done() && (l.events.Load() > 0 || l.ctx.Err() != nil) // connections break too often for some
		word := []byte("more")
		if last {
			word = []byte(end)
		}
		_, err := l.undisturbed.Set(l.ctx, path, word, framework.AnyVersion)
		require.NoError(l.t, err)
	}
}

// follow waits for each change with a watch, and for nothing else: if one is
// lost, it is still waiting when the time is up. A curious follower reads until
// it sees the change; the watch must have fired by then.
func (l *load) follow(path string, curious bool) {
	seen := int64(0)
	for {
		data, stat, w, err := l.c.GetW(l.ctx, path)
		if err != nil {
			require.True(l.t, framework.IsConnectionError(err), "%v", err)
			continue
		}
		require.GreaterOrEqual(l.t, stat.Mzxid, seen)
		seen = stat.Mzxid
		if string(data) == end {
			w.Stop()
			return
		}
		if curious {
			l.readOn(path, seen, w)
		}
		_, err = w.Wait(l.ctx)
		require.NoError(l.t, err)
		l.events.Add(1)
	}
}

// readOn reads until it sees a change that is newer than seen, or the watch for
// that has fired.
func (l *load) readOn(path string, seen int64, w *framework.Watch) {
	for {
		_, stat, err := l.c.Get(l.ctx, path)
		select {
		case <-w.Done():
			return
		default:
		}
		if err == nil {
			require.LessOrEqual(l.t, stat.Mzxid, seen, "a change is read whose watch has not fired")
		}
		if l.ctx.Err() != nil {
			return
		}
	}
}
