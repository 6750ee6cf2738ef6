package transport

import (
	"encoding/binary"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWriteNeverFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := established(t, NewLink(Config{}), 0, 9*time.Second)
		p.nc.Close()
		for i := range 100 {
			n, err := c.Write(getFrame(i, "/n", false))
			require.NoError(t, err)
			require.Positive(t, n)
			time.Sleep(time.Millisecond)
		}
		_, err := c.readAll()
		require.Error(t, err, "Read is where the library learns of it")
	})
}

// The library does not close a connection that it stops reading. So a failed
// Read must end flush, even while flush waits for a peer that does not read.
func TestReadThatFailsFreesAWriteThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe() // no buffer: a Write waits for a Read
		defer server.Close()
		l := NewLink(Config{})
		c := l.Wrap(client, time.Now().Add(5*time.Second), nil).(*Conn)
		begin := time.Now()
		_, err := c.Write(connectFrame(0))
		require.NoError(t, err)
		_, err = c.readAll()
		require.Error(t, err)
		l.goroutines.Wait()
		require.Equal(t, 5*time.Second, time.Since(begin))
	})
}

func TestFramesArriveWholeAndInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := established(t, NewLink(Config{}), 0, 9*time.Second)
		go func() {
			for i := range 2000 {
				c.Write(getFrame(i+1, string(make([]byte, i%700)), false))
			}
		}()
		for i := range 2000 {
			f := p.read()
			require.EqualValues(t, i+1, binary.BigEndian.Uint32(f))
			require.Len(t, f, 4+4+4+i%700+1)
		}
	})
}

func TestCloseOfALinkBreaksItsConnectionAndEveryLaterOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink(Config{})
		c, _ := established(t, l, 0, 9*time.Second)
		l.Close()
		_, err := c.readAll()
		require.Error(t, err)
		later, p := dialed(t, l)
		_, err = later.readAll()
		require.Error(t, err)
		require.True(t, p.silent())
	})
}

// stalledPeer returns a connection with a session whose peer reads the
// ConnectRequest and no frame after it.
func stalledPeer(t *testing.T, l *Link) *Conn {
	t.Helper()
	client, server := net.Pipe() // without a buffer
	c := l.Wrap(client, time.Now().Add(time.Hour), nil).(*Conn)
	t.Cleanup(func() { c.Close(); server.Close(); l.Close() })
	c.Write(connectFrame(7))
	_, err := server.Read(make([]byte, 100))
	require.NoError(t, err)
	go server.Write(connectAnswer(9*time.Second, 7))
	_, err = c.readAll()
	require.NoError(t, err)
	return c
}

// A caller does not wait until the peer has read other requests. The library
// does not wait either.
func TestNobodyWaitsForAPeerThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink(Config{})
		c := stalledPeer(t, l)
		begin := time.Now()
		for i := range 100 {
			c.Write(getFrame(i+1, "/n", false))
			_, err := send(l, "/n")
			require.NoError(t, err)
			l.RemoveWatch(Watch{"/n", Data})
		}
		require.Zero(t, time.Since(begin))
	})
}
