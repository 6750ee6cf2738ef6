//go:build real

package framework_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// hostileServer answers every connection to a port with the same bytes, as soon
// as anything has come, and counts them.
func hostileServer(t *testing.T, answer []byte) (addr string, served <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	count, done := make(chan struct{}, 1000), make(chan struct{})
	go func() {
		defer close(done)
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = nc.Read(make([]byte, 1000))
			_, _ = nc.Write(answer)
			_, _ = io.Copy(io.Discard, nc)
			nc.Close()
			select {
			case count <- struct{}{}:
			default:
			}
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String(), count
}

// connectResponse is a server's handshake whose password has that length, if
// one believes it.
func connectResponse(passwordLength uint32) []byte {
	b := binary.BigEndian.AppendUint32(nil, 37)
	b = binary.BigEndian.AppendUint32(b, 0) // version
	b = binary.BigEndian.AppendUint32(b, 15_000)
	b = binary.BigEndian.AppendUint64(b, 4711)
	b = binary.BigEndian.AppendUint32(b, passwordLength)
	return append(b, make([]byte, 17)...)
}

// Anything that answers on the port can send these few bytes.
func TestHandshakesOfImpostorsTakeNoMemory(t *testing.T) {
	for name, answer := range map[string][]byte{
		"password of 2 GiB": connectResponse(0x7fffffff),
		"frame of 64 MiB":   {0x03, 0xff, 0xff, 0xff},
	} {
		t.Run(name, func(t *testing.T) {
			addr, served := hostileServer(t, answer)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c, err := framework.New(addr, framework.WithSessionTimeout(2*time.Second))
			require.NoError(t, err)
			for range 3 {
				select {
				case <-served:
				case <-time.After(stuck):
					t.Fatal("the client does not try again")
				}
			}
			require.NoError(t, c.Close())
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
		})
	}
}

// lengthening is a connection that makes each answer with a mark in it longer
// than the client takes.
type lengthening struct {
	net.Conn
	rest io.Reader
}

const longMark = "make this answer long"

func (l *lengthening) Read(p []byte) (int, error) {
	if l.rest != nil {
		if n, err := l.rest.Read(p); err == nil {
			return n, nil
		}
	}
	frame := make([]byte, 4)
	if _, err := io.ReadFull(l.Conn, frame); err != nil {
		return 0, err
	}
	frame = append(frame, make([]byte, binary.BigEndian.Uint32(frame))...)
	if _, err := io.ReadFull(l.Conn, frame[4:]); err != nil {
		return 0, err
	}
	l.rest = bytes.NewReader(frame)
	if bytes.Contains(frame, []byte(longMark)) {
		const more = 64 << 20
		binary.BigEndian.PutUint32(frame, uint32(len(frame)-4+more))
		l.rest = io.MultiReader(bytes.NewReader(frame), bytes.NewReader(make([]byte, more)))
	}
	return l.rest.Read(p)
}

func TestAnswerThatIsTooLongIsAnError(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			nc, err := srv.Dialer()(ctx, network, address)
			return &lengthening{Conn: nc}, err
		}))
		mustCreate(t, c, "/n", longMark)
		_, _, err := c.Get(t.Context(), "/n")
		require.ErrorIs(t, err, framework.ErrAnswerTooLarge)
		mustCreate(t, c, "/m", "short")
		_, _, err = c.Get(t.Context(), "/m")
		require.NoError(t, err)
		require.Equal(t, 1, srv.CountRequests(zktest.OpConnect))
	})
}
