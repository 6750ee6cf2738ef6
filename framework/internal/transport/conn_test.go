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

// The library's receiving end does not close a connection that it gives up, so its sending end, if it waits for a peer
// that does not read, must be set free by the failed Read. Else the library would never reconnect.
func TestReadThatFailsFreesAWriteThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe() // without a buffer: a Write waits for the reader
		defer server.Close()
		l := NewLink(Config{})
		c := l.Wrap(client, time.Now().Add(5*time.Second)).(*Conn)
		begin := time.Now()
		written := make(chan error)
		go func() { _, err := c.Write(connectFrame(0)); written <- err }()
		_, err := c.readAll()
		require.Error(t, err)
		require.NoError(t, <-written)
		require.Equal(t, 5*time.Second, time.Since(begin))
		l.Close()
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

func TestServerThatReplacesTheSessionIsMadeToSayExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink(Config{})
		c, p := dialed(t, l)
		go c.Write(connectFrame(7))
		p.read()
		go p.write(connectAnswer(9*time.Second, 8))
		f, err := c.readAll()
		require.NoError(t, err)
		require.Zero(t, binary.BigEndian.Uint32(f[4:]), "timeout")
		require.Zero(t, binary.BigEndian.Uint64(f[8:]), "session")
		_, timeout := l.Contact()
		require.Zero(t, timeout, "nothing is established")
	})
}

func TestHandshakeOfTheSameSessionIsPassedOnAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := dialed(t, NewLink(Config{}))
		go c.Write(connectFrame(7))
		p.read()
		go p.write(connectAnswer(9*time.Second, 7))
		f, err := c.readAll()
		require.NoError(t, err)
		require.Equal(t, connectAnswer(9*time.Second, 7)[4:], f)
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
