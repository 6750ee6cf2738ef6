//go:build real

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

// interceptor sits on the connections of a Go client. It reads what is needed
// to take over the session, and can cut the connections.
type interceptor struct {
	mu    sync.Mutex // protects the fields below
	conns []*interceptedConn
	down  bool
}

func (i *interceptor) dial(ctx context.Context, network, address string) (net.Conn, error) {
	nc, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.down {
		nc.Close()
		return nil, errors.New("the connection is cut")
	}
	c := &interceptedConn{Conn: nc, interceptor: i}
	i.conns = append(i.conns, c)
	return c, nil
}

// cut breaks the connections for good.
func (i *interceptor) cut() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.down = true
	for _, c := range i.conns {
		c.Close()
	}
}

// session returns the id and, in base64, the password of the session on the
// newest connection. It waits until there is one.
func (i *interceptor) session(tt *testing.T) (id int64, password string) {
	tt.Helper()
	require.Eventually(tt, func() bool {
		i.mu.Lock()
		defer i.mu.Unlock()
		response := i.conns[len(i.conns)-1].connectResponse
		if len(response) < connectResponseSize {
			return false
		}
		id = int64(binary.BigEndian.Uint64(response[12:]))
		password = base64.StdEncoding.EncodeToString(response[24:])
		return id != 0 // an expired session has id 0
	}, waitLimit, 10*time.Millisecond)
	return id, password
}

type interceptedConn struct {
	net.Conn
	interceptor *interceptor
	// connectResponse has the server's first bytes. The mutex of the
	// interceptor protects it.
	connectResponse []byte
}

// connectResponseSize is the size of a ConnectResponse: length, version,
// timeout, session id, and a password of 16 bytes.
const connectResponseSize = 4 + 4 + 4 + 8 + 4 + 16

func (c *interceptedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.interceptor.mu.Lock()
	defer c.interceptor.mu.Unlock()
	c.connectResponse = append(c.connectResponse, p[:min(n, connectResponseSize-len(c.connectResponse))]...)
	return n, err
}
