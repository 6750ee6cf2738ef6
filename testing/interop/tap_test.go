package interop_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tap is on the line of a client of ours: it reads along what is needed to take over the session, and can cut the line.
type tap struct {
	mu    sync.Mutex // protects the following fields
	conns []*tapped
	down  bool
}

func (t *tap) dial(ctx context.Context, network, address string) (net.Conn, error) {
	nc, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.down {
		nc.Close()
		return nil, errors.New("the line is cut")
	}
	c := &tapped{Conn: nc, tap: t}
	t.conns = append(t.conns, c)
	return c, nil
}

// cut breaks the connection for good.
func (t *tap) cut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.down = true
	for _, c := range t.conns {
		c.Close()
	}
}

// session returns the id and, in base64, the password of the session on the newest connection, once it has one.
func (t *tap) session(tt *testing.T) (id int64, password string) {
	tt.Helper()
	require.Eventually(tt, func() bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		hello := t.conns[len(t.conns)-1].hello
		if len(hello) < helloSize {
			return false
		}
		id, password = int64(binary.BigEndian.Uint64(hello[12:])), base64.StdEncoding.EncodeToString(hello[24:])
		return id != 0 // of a session that has expired
	}, tooLong, 10*time.Millisecond)
	return id, password
}

type tapped struct {
	net.Conn
	tap   *tap
	hello []byte // the server's first bytes; protected by tap.mu
}

// helloSize is that of a ConnectResponse: length, version, timeout, session id, password of 16 bytes.
const helloSize = 4 + 4 + 4 + 8 + 4 + 16

func (c *tapped) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.tap.mu.Lock()
	defer c.tap.mu.Unlock()
	c.hello = append(c.hello, p[:min(n, helloSize-len(c.hello))]...)
	return n, err
}
