package transport

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/proto"
)

// filled returns a connection that takes no more calls, and the given number of
// waiters behind them.
func filled(t *testing.T, waiting int) (*Link, *Conn, *peer, []*Waiter) {
	t.Helper()
	l := NewLink(Config{})
	c, p := established(t, l, 7, 9*time.Second)
	readInBackground(c)
	for range maxCalls {
		_, waiter, err := l.Send(proto.OpSync, path("/a"), nil)
		require.NoError(t, err)
		require.Nil(t, waiter)
	}
	waiters := make([]*Waiter, waiting)
	for i := range waiters {
		call, waiter, err := l.Send(proto.OpSync, path("/a"), nil)
		require.NoError(t, err)
		require.Nil(t, call)
		waiters[i] = waiter
	}
	return l, c, p, waiters
}

// answerNext answers the oldest request that has arrived and has no answer.
func (p *peer) answerNext() {
	p.write(answerFrame(xidOf(p.read()), 1, 0, "/a"))
	synctest.Wait()
}

// sent returns the indices of the waiters whose requests have been sent.
func sent(waiters []*Waiter) (which []int) {
	for i, waiter := range waiters {
		select {
		case <-waiter.Done():
			which = append(which, i)
		default:
		}
	}
	return which
}

// Each answer admits the oldest waiter and wakes no other. A later request does
// not overtake it.
func TestCallsWaitForCapacityInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _, p, waiters := filled(t, 4)
		require.Empty(t, sent(waiters))
		p.answerNext()
		require.Equal(t, []int{0}, sent(waiters))
		call, later, err := l.Send(proto.OpSync, path("/a"), nil)
		require.NoError(t, err)
		require.Nil(t, call)
		p.answerNext()
		require.Equal(t, []int{0, 1}, sent(waiters))

		require.True(t, waiters[2].Cancel())
		require.False(t, waiters[1].Cancel(), "its request has been sent")
		p.answerNext()
		require.Equal(t, []int{0, 1, 3}, sent(waiters))
		p.answerNext()
		require.Equal(t, []int{0}, sent([]*Waiter{later}))
		p.answerNext()
		call, waiter, err := l.Send(proto.OpSync, path("/a"), nil)
		require.NoError(t, err)
		require.NotNil(t, call)
		require.Nil(t, waiter, "there are no waiters any more, and there is capacity")

		require.NoError(t, waiters[0].Err())
		for range maxCalls {
			p.answerNext()
		}
		<-waiters[0].calls[0].Done()
		require.True(t, p.silent(), "a request that was withdrawn is not sent")
	})
}

// The session depends on requests that must not wait: the library's pings and
// the requests about watches.
func TestSomeRequestsDoNotWaitForCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, c, p, _ := filled(t, 1)
		for range maxCalls {
			p.read()
		}
		c.Write(frame(proto.XidPing, proto.OpPing))
		l.RemoveWatch(Watch{"/a", Data})
		require.Equal(t, []int32{proto.OpPing, proto.OpRemoveWatches}, p.readOps(2))
		require.True(t, p.silent())
	})
}

func TestCallsWaitForCapacityWhenTheServerDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink(Config{})
		c := stalledPeer(t, l)
		queued := 0
		data := make([]byte, 100<<10)
		for {
			_, waiter, err := l.Send(proto.OpSync, func(b []byte) []byte { return append(b, data...) }, nil)
			require.NoError(t, err)
			if waiter != nil {
				break
			}
			queued += len(data)
		}
		require.LessOrEqual(t, queued, 2*(maxQueued+len(data)), "one queue is being written, and one is full")
		_, waiter, _ := l.Send(proto.OpSync, path("/a"), nil)
		c.Close()
		<-waiter.Done()
		err := waiter.Err()
		require.ErrorIs(t, err, ErrNotSent)
		require.False(t, waiter.Cancel())
		_, err = send(l, "/a")
		require.ErrorIs(t, err, ErrNotSent)
	})
}

// When a server reads again, waiters are admitted only while the queue is below
// its limit.
func TestQueuedBytesStayBoundedWhenTheServerReadsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink(Config{})
		_, p := established(t, l, 7, 9*time.Second)
		const size, n = 1 << 20, 50
		for range n {
			_, _, err := l.Send(proto.OpSync, zeros(size), nil)
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
