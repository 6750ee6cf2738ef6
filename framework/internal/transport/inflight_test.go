package transport

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/proto"
)

// contactAfter returns the time from begin to the last contact.
func contactAfter(l *Link, begin time.Time) time.Duration {
	at, _ := l.LastContact()
	return at.Sub(begin)
}

func TestContactIsTheSendingOfTheNewestAnsweredRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink(Config{})
		begin := time.Now()
		c, p := established(t, l, 0, 9*time.Second)
		go func() {
			for {
				if _, err := c.readAll(); err != nil {
					return
				}
			}
		}()
		send := func(xid int) { c.Write(getFrame(xid, "/n", false)); p.read() }
		reply := func(xid int) { p.write(answerFrame(xid, 1, 0, "", stat[:])); synctest.Wait() }

		_, timeout := l.LastContact()
		require.Equal(t, 9*time.Second, timeout)
		require.Zero(t, contactAfter(l, begin))

		time.Sleep(time.Second)
		send(1)
		time.Sleep(time.Second)
		send(2)
		require.Zero(t, contactAfter(l, begin), "requests prove nothing")

		time.Sleep(time.Second)
		reply(1)
		require.Equal(t, time.Second, contactAfter(l, begin), "not the time of the reply")

		p.write(answerFrame(-1, 1, 0, 3, 3, "/n"))
		synctest.Wait()
		require.Equal(t, time.Second, contactAfter(l, begin), "a notification answers nothing")

		p.write(answerFrame(99, 1, 0))
		synctest.Wait()
		require.Equal(t, time.Second, contactAfter(l, begin), "a reply to nothing proves nothing")

		time.Sleep(time.Second)
		send(3)
		reply(3) // ahead of its turn, as the answer to auth is
		require.Equal(t, 4*time.Second, contactAfter(l, begin))
		reply(2)
		require.Equal(t, 4*time.Second, contactAfter(l, begin), "time does not go back")
	})
}

func TestContactOfTheHandshakeIsItsSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink(Config{})
		begin := time.Now()
		c, p := dialed(t, l)
		time.Sleep(time.Second)
		c.Write(connectFrame(7))
		p.read()
		time.Sleep(time.Second)
		go p.write(connectAnswer(9*time.Second, 7))
		_, err := c.readAll()
		require.NoError(t, err)
		require.Equal(t, time.Second, contactAfter(l, begin))
	})
}

// All pings have the same xid. Their answers come in order.
func TestPingsAreAnsweredInOrder(t *testing.T) {
	var f inflight
	at := time.Now()
	for i := range 3 {
		f.sent(proto.RequestHeader{Xid: proto.XidPing}, at.Add(time.Duration(i)*time.Second), nil)
	}
	for i := range 3 {
		r, ok := f.answered(proto.XidPing)
		require.True(t, ok)
		require.Equal(t, at.Add(time.Duration(i)*time.Second), r.at)
	}
	_, ok := f.answered(proto.XidPing)
	require.False(t, ok)
}
