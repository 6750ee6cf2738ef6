//go:build real

package zkserver

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/leaktest"
)

// envHelper turns the test program into the helper of
// TestServerDiesWithProgram.
const envHelper = "ZKSERVER_TEST_HELPER"

func TestMain(m *testing.M) {
	if os.Getenv(envHelper) != "" {
		runHelper()
		return
	}
	leaktest.Main(m, CloseShared)
}

// runHelper is the program that TestServerDiesWithProgram kills. It starts a
// server, prints its address and waits.
func runHelper() {
	e, err := run(nil, 0, newMembers)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.servers[0].Addr())
	select {}
}

type discardLogger struct{}

func (discardLogger) Printf(string, ...any) {}

// connect returns a client with a session on addrs.
func connect(t *testing.T, addrs ...string) *zk.Conn {
	t.Helper()
	return connectWith(t, addrs, net.DialTimeout)
}

// connectWith is connect with the given dialer.
func connectWith(t *testing.T, addrs []string, dial zk.Dialer) *zk.Conn {
	t.Helper()
	conn, events, err := zk.Connect(addrs, 30*time.Second,
		zk.WithLogger(discardLogger{}), zk.WithDialer(impatient(dial)))
	require.NoError(t, err)
	t.Cleanup(func() {
		conn.Close()
		for range events { // closed when the client's last goroutine ends
		}
	})
	timeout := time.After(time.Minute)
	for {
		select {
		case event := <-events:
			if event.State == zk.StateHasSession {
				return conn
			}
		case <-timeout:
			t.Fatal("no session")
		}
	}
}

// impatient returns a dialer whose connections wait for the answer to the
// handshake for five seconds. go-zookeeper waits for 200 seconds, ten times as
// long as for any other packet. A standalone server that has just begun to
// start may never answer (ZOOKEEPER-5051).
func impatient(dial zk.Dialer) zk.Dialer {
	return func(network, address string, timeout time.Duration) (net.Conn, error) {
		conn, err := dial(network, address, timeout)
		if err != nil {
			return nil, err
		}
		return impatientConn{conn}, nil
	}
}

type impatientConn struct{ net.Conn }

func (c impatientConn) SetReadDeadline(t time.Time) error {
	if now := time.Now(); t.Sub(now) > 100*time.Second {
		t = now.Add(5 * time.Second)
	}
	return c.Conn.SetReadDeadline(t)
}

// withTimeout returns a context that ends before the timeout of go test.
func withTimeout(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// ownPath returns the path of a node that no other test has made on a server
// that tests share.
func ownPath() string { return "/" + rand.Text() }

// create creates a node. It retries while the connection is down, so a retry
// may find that the node exists.
func create(t *testing.T, conn *zk.Conn, path string) {
	t.Helper()
	err := poll(withTimeout(t, time.Minute), nil, func(context.Context) error {
		_, err := conn.Create(path, []byte(path), 0, zk.WorldACL(zk.PermAll))
		if err == zk.ErrNodeExists {
			return nil
		}
		return err
	})
	require.NoError(t, err)
}

// requireData reads the node that create made. It retries while the connection
// is down.
func requireData(t *testing.T, conn *zk.Conn, path string) {
	t.Helper()
	var data []byte
	err := poll(withTimeout(t, time.Minute), nil, func(context.Context) (err error) {
		data, _, err = conn.Get(path)
		return err
	})
	require.NoError(t, err)
	require.Equal(t, path, string(data))
}

// waitCaughtUp waits until the server of conn has applied everything that was
// confirmed before. It retries while the connection is down.
func waitCaughtUp(t *testing.T, conn *zk.Conn) {
	t.Helper()
	require.NoError(t, poll(withTimeout(t, time.Minute), nil, func(context.Context) error {
		_, err := conn.Sync("/")
		return err
	}))
}
