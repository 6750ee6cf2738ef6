package transport

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/jute"
	"github.com/gocurator/curator/testing/zktest"
)

// sessionOwner owns a link as a session does, as far as these tests need it: it
// keeps the watches that are set.
type sessionOwner struct {
	link   *Link
	notSet atomic.Int32

	mu     sync.Mutex
	set    map[SetWatch]bool
	events []Event
	failed []error
	creds  []Credentials
}

// withLibrary runs a test in a synctest bubble. The test gets a server and the
// owner of a go-zookeeper session whose connections are wrapped.
func withLibrary(
	t *testing.T, leaderConfirmed bool,
	test func(t *testing.T, srv *zktest.Server, o *sessionOwner),
) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv, o := zktest.Start(t), &sessionOwner{set: map[SetWatch]bool{}}
		o.link = NewLink(Config{
			LeaderConfirmed: leaderConfirmed, Credentials: o.credentials,
			Watches: o.restore, Fired: o.fired, Failed: o.fail, NotSet: func() { o.notSet.Add(1) },
		})
		conn, events, err := zk.Connect([]string{srv.Addr()}, 9*time.Second, zk.WithLogger(quiet{}),
			zk.WithDialer(func(network, address string, _ time.Duration) (net.Conn, error) {
				nc, err := srv.Dialer()(context.Background(), network, address)
				if err != nil {
					return nil, err
				}
				return o.link.Wrap(nc, time.Now().Add(6*time.Second), nil), nil
			}))
		require.NoError(t, err)
		t.Cleanup(func() {
			conn.Close()
			o.link.Close()
			for range events {
			}
		})
		synctest.Wait()
		test(t, srv, o)
	})
}

func (o *sessionOwner) restore(set func([]SetWatch, []*PersistentWatch)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []SetWatch
	for w := range o.set {
		all = append(all, w)
	}
	set(all, nil)
}

func (o *sessionOwner) fired(ev Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events = append(o.events, ev)
	clear(o.set) // the tests that fire have one watch
}

func (o *sessionOwner) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = append(o.failed, err)
}

func (o *sessionOwner) failures() []error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failed
}

func (o *sessionOwner) credentials() []Credentials {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.creds
}

// watch asks for the existence of a node, with a watch.
func (o *sessionOwner) watch(t *testing.T, path string) {
	t.Helper()
	const opExists = 3
	payload := func(b []byte) []byte { return jute.AppendBool(jute.AppendString(b, path), true) }
	call, _, err := o.link.Send(opExists, payload, func(code int32, err error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.set[SetWatch{Watch{path, Data}, code != 0}] = err == nil
	})
	require.NoError(t, err)
	<-call.Done()
}

// request makes a request whose payload is a path, and returns the server's
// code.
func (o *sessionOwner) request(t *testing.T, op int32, p string) int32 {
	t.Helper()
	call, _, err := o.link.Send(op, path(p), nil)
	require.NoError(t, err)
	<-call.Done()
	code, _, _, err := call.Answer()
	require.NoError(t, err)
	return code
}

// library returns a go-zookeeper client. The test plays its server: serve is
// called with the number of each connection, from 1. Client and link are closed
// at the end of the test.
func library(t *testing.T, l *Link, serve func(n int, p *peer)) *zk.Conn {
	t.Helper()
	n := 0
	conn, events, err := zk.Connect([]string{"127.0.0.1:1"}, 9*time.Second, zk.WithLogger(quiet{}),
		zk.WithDialer(func(string, string, time.Duration) (net.Conn, error) {
			n++
			client, server := net.Pipe()
			go func(n int) {
				defer server.Close()
				p := newPeer(t, server)
				serve(n, p)
				for p.read() != nil {
				}
			}(n)
			return l.Wrap(client, time.Now().Add(6*time.Second), nil), nil
		}))
	require.NoError(t, err)
	t.Cleanup(func() {
		conn.Close()
		l.Close()
		for range events {
		}
	})
	return conn
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// The library would panic on each of these frames, or allocate until the
// process dies.
func TestFramesThatWouldCrashTheLibraryEndTheConnectionInstead(t *testing.T) {
	for name, bad := range map[string][]byte{
		"shorter than a header":       frame(1, 2),
		"empty":                       frame(),
		"one byte short of a header":  frame(1, int64(2), []byte{0, 0, 0}),
		"negative length":             {0xff, 0xff, 0xff, 0xff},
		"huge length":                 {0x7f, 0xff, 0xff, 0xff},
		"notification without a body": answerFrame(-1, -1, 0),
		"notification of half a path": answerFrame(-1, -1, 0, 3, 3, 100, []byte("/n")),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				again := make(chan bool)
				library(t, NewLink(Config{}), func(n int, p *peer) {
					p.read()
					p.write(append(connectAnswer(9*time.Second, 7), pingAnswer...))
					switch n {
					case 1:
						p.write(bad)
					case 2:
						close(again)
					}
				})
				<-again
			})
		})
	}
}

func TestHandshakeOfAServerThatStopsHalfwayIsBounded(t *testing.T) {
	for name, sent := range map[string][]byte{
		"nothing":         nil,
		"only the length": connectAnswer(9*time.Second, 7)[:4],
		"half":            connectAnswer(9*time.Second, 7)[:20],
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dials := make(chan time.Time, 10)
				library(t, NewLink(Config{}), func(n int, p *peer) {
					dials <- time.Now()
					p.read()
					p.write(sent)
				})
				first, second := <-dials, <-dials
				require.Equal(t, 7*time.Second, second.Sub(first),
					"six seconds, and the library's pause of one")
			})
		})
	}
}
