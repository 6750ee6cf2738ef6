package transport

import (
	"encoding/binary"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/jute"
)

func path(p string) func([]byte) []byte {
	return func(b []byte) []byte { return jute.AppendString(b, p) }
}

const opSync = 9

// xidOf returns the transaction id of a request that arrived.
func xidOf(frame []byte) int { return int(int32(binary.BigEndian.Uint32(frame))) }

// readInBackground reads as the library does, until the connection ends.
func readInBackground(c *Conn) {
	go func() {
		for {
			if _, err := c.readAll(); err != nil {
				return
			}
		}
	}()
}

func TestCallIsAnsweredPastTheLibrary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink()
		c, p := established(t, l, 7, 9*time.Second)
		readInBackground(c)
		first, err := l.Send(opSync, path("/a"))
		require.NoError(t, err)
		second, err := l.Send(opSync, path("/b"))
		require.NoError(t, err)

		frame := p.read()
		require.GreaterOrEqual(t, xidOf(frame), firstOwnXid)
		p.write(answerFrame(xidOf(frame), 17, 0, "/a"))
		<-first.Done()
		p.write(answerFrame(xidOf(p.read()), 18, -101))
		<-second.Done()

		code, zxid, body, err := first.Answer()
		require.NoError(t, err)
		require.Zero(t, code)
		require.EqualValues(t, 17, zxid)
		require.Equal(t, "/a", jute.NewReader(body).String(), "the frame's memory has been used again since")
		code, _, _, err = second.Answer()
		require.NoError(t, err)
		require.EqualValues(t, -101, code)
	})
}

// The library is given nothing of it, and its own answers are given to it.
func TestAnswersOfCallsAndOfTheLibraryAreNotMixed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink()
		c, p := established(t, l, 7, 9*time.Second)
		c.Write(getFrame(1, "/a", false))
		call, err := l.Send(opSync, path("/a"))
		require.NoError(t, err)
		c.Write(getFrame(2, "/a", false))
		go func() {
			for range 3 {
				p.write(answerFrame(xidOf(p.read()), 1, -101))
			}
		}()
		for want := range 2 {
			frame, err := c.readAll()
			require.NoError(t, err)
			require.Equal(t, want+1, xidOf(frame))
		}
		<-call.Done()
	})
}

func TestOwnXidsWrapAmongThemselves(t *testing.T) {
	l := NewLink()
	require.EqualValues(t, firstOwnXid, l.nextOwnXid())
	l.ownXid = math.MaxInt32
	require.EqualValues(t, firstOwnXid, l.nextOwnXid())
}

func TestCallIsContact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink()
		c, p := established(t, l, 7, 9*time.Second)
		readInBackground(c)
		time.Sleep(time.Second)
		sent := time.Now()
		call, err := l.Send(opSync, path("/a"))
		require.NoError(t, err)
		time.Sleep(time.Second)
		p.write(answerFrame(xidOf(p.read()), 1, 0, "/a"))
		<-call.Done()
		contact, _ := l.Contact()
		require.Equal(t, sent, contact)
	})
}

func TestCallIsLostWithItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink()
		c, _ := established(t, l, 7, 9*time.Second)
		call, err := l.Send(opSync, path("/a"))
		require.NoError(t, err)
		c.Close()
		<-call.Done()
		_, _, _, err = call.Answer()
		require.ErrorIs(t, err, ErrLost)

		_, err = l.Send(opSync, path("/a"))
		require.ErrorIs(t, err, ErrNotSent)
	})
}

func TestCallNeedsASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink()
		_, err := l.Send(opSync, path("/a"))
		require.ErrorIs(t, err, ErrNotSent)
		dialed(t, l)
		_, err = l.Send(opSync, path("/a"))
		require.ErrorIs(t, err, ErrNotSent)
	})
}

func TestCallWaitsUntilTheWatchesAreSetAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink()
		c, p := reconnected(t, l, "/a")
		_, err := l.Send(opSync, path("/a"))
		require.NoError(t, err)
		require.True(t, p.silent())
		c.Write(frame(12, opSetWatches, int64(1), 1, "/a", 0, 0))
		require.Equal(t, []int32{opSetWatches, opSync}, p.readOps(2))
	})
}

func TestCallThatWasHeldBackWasNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink()
		c, _ := reconnected(t, l, "/a")
		call, err := l.Send(opSync, path("/a"))
		require.NoError(t, err)
		c.Close()
		<-call.Done()
		_, _, _, err = call.Answer()
		require.ErrorIs(t, err, ErrNotSent)
	})
}

func TestCallThatIsTooLongIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink()
		_, p := established(t, l, 7, 9*time.Second)
		_, err := l.Send(opSync, func(b []byte) []byte { return append(b, make([]byte, maxRequest)...) })
		require.ErrorIs(t, err, ErrTooLong)
		require.True(t, p.silent())
		_, err = l.Send(opSync, path("/a"))
		require.NoError(t, err)
		require.Equal(t, []int32{opSync}, p.readOps(1))
	})
}

// The library does not see the answers to calls, and would let the server send the client back in time.
func TestServerIsToldTheNewestZxid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink()
		c, p := reconnected(t, l, "/a")
		c.Write(frame(12, opSetWatches, int64(1), 1, "/a", 0, 0))
		p.read()
		readInBackground(c)
		call, err := l.Send(opSync, path("/a"))
		require.NoError(t, err)
		p.write(answerFrame(xidOf(p.read()), 4711, 0, "/a"))
		<-call.Done()
		c.Close()

		c, p = dialed(t, l)
		go c.Write(connectFrame(7))
		require.EqualValues(t, 4711, binary.BigEndian.Uint64(p.read()[4:]))
		go p.write(connectAnswer(9*time.Second, 7))
		_, err = c.readAll()
		require.NoError(t, err)
		c.Write(frame(13, opSetWatches, int64(1), 1, "/a", 0, 0))
		require.EqualValues(t, 4711, binary.BigEndian.Uint64(p.read()[8:]))
	})
}
