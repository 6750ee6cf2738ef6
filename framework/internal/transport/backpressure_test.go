package transport

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// filled returns a connection on which no call has room, and what waits in line
// behind them.
func filled(t *testing.T, waiting int) (*Link, *Conn, *peer, []*Waiter) {
	t.Helper()
	l := NewLink(Config{})
	c, p := established(t, l, 7, 9*time.Second)
	readInBackground(c)
	for range maxCalls {
		_, place, err := l.Send(opSync, path("/a"), nil)
		require.NoError(t, err)
		require.Nil(t, place)
	}
	places := make([]*Waiter, waiting)
	for i := range places {
		call, place, err := l.Send(opSync, path("/a"), nil)
		require.NoError(t, err)
		require.Nil(t, call)
		places[i] = place
	}
	return l, c, p, places
}

// answerNext answers the oldest request that has arrived.
func (p *peer) answerNext() {
	p.write(answerFrame(xidOf(p.read()), 1, 0, "/a"))
	synctest.Wait()
}

// served returns which places have been served.
func served(places []*Waiter) (which []int) {
	for i, place := range places {
		select {
		case <-place.Done():
			which = append(which, i)
		default:
		}
	}
	return which
}

// Each answer makes room for the one who has waited longest, and wakes nobody
// else. Those who come later do not pass.
func TestCallsWaitForRoomInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _, p, places := filled(t, 4)
		require.Empty(t, served(places))
		p.answerNext()
		require.Equal(t, []int{0}, served(places))
		call, late, err := l.Send(opSync, path("/a"), nil)
		require.NoError(t, err)
		require.Nil(t, call)
		p.answerNext()
		require.Equal(t, []int{0, 1}, served(places))

		require.True(t, places[2].Cancel())
		require.False(t, places[1].Cancel(), "its request has been sent")
		p.answerNext()
		require.Equal(t, []int{0, 1, 3}, served(places))
		p.answerNext()
		require.Equal(t, []int{0}, served([]*Waiter{late}))
		p.answerNext()
		call, place, err := l.Send(opSync, path("/a"), nil)
		require.NoError(t, err)
		require.NotNil(t, call)
		require.Nil(t, place, "nobody waits any more, and there is room")

		first, second, err := places[0].Calls()
		require.NoError(t, err)
		require.Nil(t, second)
		for range maxCalls {
			p.answerNext()
		}
		<-first.Done()
		require.True(t, p.silent(), "what was given up is not sent")
	})
}

// The session depends on them.
func TestSomeRequestsDoNotWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const xidPing, opPing = -2, 11
		l, c, p, _ := filled(t, 1)
		for range maxCalls {
			p.read()
		}
		c.Write(frame(xidPing, opPing))
		l.RemoveWatch(Watch{"/a", Data})
		require.Equal(t, []int32{opPing, opRemoveWatches}, p.readOps(2))
		require.True(t, p.silent())
	})
}

func TestBothWaitForRoomTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _, p, _ := filled(t, 0)
		_, _, place, err := l.SendBoth(Request{Op: opSync, Payload: path("/a")}, Request{Op: opSetWatches, Payload: path("/b")})
		require.NoError(t, err)
		p.answerNext()
		<-place.Done()
		first, second, err := place.Calls()
		require.NoError(t, err)
		for range maxCalls + 1 {
			p.answerNext()
		}
		<-first.Done()
		<-second.Done()
	})
}

func TestCallsThatWaitForRoomMayBeTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _, p, _ := filled(t, 0)
		l.cfg.MaxRequest = 1000
		_, long, _ := l.Send(opSync, func(b []byte) []byte { return append(b, make([]byte, 1000)...) }, nil)
		_, short, _ := l.Send(opSync, path("/a"), nil)
		p.answerNext()
		<-long.Done()
		_, _, err := long.Calls()
		require.ErrorIs(t, err, ErrTooLong)
		<-short.Done()
		call, _, err := short.Calls()
		require.NoError(t, err)
		require.NotNil(t, call)
	})
}

func TestCallsWaitForRoomWhenTheServerDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink(Config{})
		c := stalledPeer(t, l)
		queued := 0
		data := make([]byte, 100<<10)
		for {
			_, place, err := l.Send(opSync, func(b []byte) []byte { return append(b, data...) }, nil)
			require.NoError(t, err)
			if place != nil {
				break
			}
			queued += len(data)
		}
		require.Less(t, queued, 2*maxQueued)
		_, place, _ := l.Send(opSync, path("/a"), nil)
		c.Close()
		<-place.Done()
		_, _, err := place.Calls()
		require.ErrorIs(t, err, ErrNotSent)
		require.False(t, place.Cancel())
		_, err = send(l, "/a")
		require.ErrorIs(t, err, ErrNotSent)
	})
}

// When a server reads again, no more is taken from those who wait than may be
// queued.
func TestQueuedBytesStayBoundedWhenTheServerReadsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink(Config{})
		_, p := established(t, l, 7, 9*time.Second)
		const size, n = 1 << 20, 50
		for range n {
			_, _, err := l.Send(opSync, func(b []byte) []byte { return append(b, make([]byte, size)...) }, nil)
			require.NoError(t, err)
		}
		for range n {
			require.Len(t, p.read(), 8+size)
			l.mu.Lock()
			require.Less(t, len(l.conn.out), maxQueued+2*size)
			l.mu.Unlock()
		}
	})
}
