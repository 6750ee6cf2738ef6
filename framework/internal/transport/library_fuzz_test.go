package transport

import (
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/proto"
)

// A peer may send any bytes: the library does not panic, and allocates only in
// proportion to their number.
func FuzzLibrary(f *testing.F) {
	hello := append(connectAnswer(9*time.Second, 7), pingAnswer...)
	f.Add([]byte{})
	f.Add(hello)
	f.Add(frame(0, 9000, int64(7), 0x7fffffff, make([]byte, 17)))
	f.Add(frame(0, 0, int64(0), 0x7fffffff, make([]byte, 17)))
	f.Add(append(hello[:len(hello):len(hello)], answerFrame(proto.XidPing, 5, 0, make([]byte, 9000))...))
	f.Add(append(hello[:len(hello):len(hello)], answerFrame(-1, -1, 0, 3, 3, "/n")...))
	f.Add(append(hello[:len(hello):len(hello)], answerFrame(1, 5, 0, 0x7fffffff)...))
	f.Fuzz(func(t *testing.T, in []byte) {
		memory := allocated(func() {
			synctest.Test(t, func(t *testing.T) { runLibrary(t, in) })
		})
		require.LessOrEqual(t, memory, uint64(2<<20+10*len(in)))
	})
}

// runLibrary gives the library one connection whose peer sends the given bytes,
// and runs it for as long as a session lasts without an answer.
func runLibrary(t *testing.T, in []byte) {
	l := NewLink(Config{})
	dialed := false
	conn, events, err := zk.Connect([]string{"127.0.0.1:1"}, 9*time.Second, zk.WithLogger(quiet{}),
		zk.WithMaxBufferSize(4<<10), zk.WithMaxConnBufferSize(4<<10),
		zk.WithDialer(func(string, string, time.Duration) (net.Conn, error) {
			if dialed {
				return nil, errors.New("once is enough")
			}
			dialed = true
			client, server := net.Pipe()
			p := newPeer(t, server)
			go func() {
				defer server.Close()
				p.read()
				p.write(in)
				p.read() // a ping
			}()
			return l.Wrap(client, time.Now().Add(6*time.Second), nil), nil
		}))
	require.NoError(t, err)
	time.Sleep(9 * time.Second)
	conn.Close()
	l.Close()
	for range events {
	}
}
