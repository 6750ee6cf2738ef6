package transport

import (
	"time"

	"github.com/gocurator/curator/framework/internal/jute"
)

// confirmContact moves the time of the last contact forward in strict mode, as long as the connection lives.
//
// An answer alone proves nothing about the session. Its time runs out at the ensemble's leader, while a follower answers
// pings and reads by itself, and goes on for a while when it is cut off. The leader hears of the clients that a follower
// has heard from, but only in the follower's answers to the leader's own pings, which go out twice per tick. What travels
// to the leader and back at our request is sync. Everything between two servers travels in order. So:
//
//   - Sync A is answered: the follower had heard from us when the answer passed through it.
//   - Sync B is sent half a tick after that, or later, and is answered: the leader has sent a ping in between, after A's
//     answer and before B's, and the follower has answered it before it passed on the answer to B.
//   - Sync C is sent after that, and is answered: it arrived at the leader behind the answer to the ping. The leader has
//     heard that we were alive when A was sent.
//
// Each C is the A of the next round. Half a tick is not known here, but no more than a quarter of the session timeout,
// because servers grant no timeout below two ticks, unless they are told to.
func (c *Conn) confirmContact() {
	_, timeout := c.link.Contact()
	pause := time.NewTimer(0)
	defer pause.Stop()
	var previous time.Time
	for {
		select {
		case <-pause.C:
		case <-c.done:
			return
		}
		if !previous.IsZero() {
			if _, err := c.sync(timeout); err != nil {
				return
			}
		}
		sent, err := c.sync(timeout)
		if err != nil {
			return
		}
		c.confirmed(previous)
		previous = sent
		pause.Reset(timeout / 4)
	}
}

func (c *Conn) confirmed(sent time.Time) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.link.contactLocked(sent)
}

// sync returns when a sync on this connection was answered, and when that one was sent. One that the server refuses, because
// it has too much to do, is made again. The end of the connection is an error.
func (c *Conn) sync(timeout time.Duration) (sent time.Time, err error) {
	for {
		sent = time.Now()
		code, err := c.trySync()
		if err != nil || code == 0 {
			return sent, err
		}
		select {
		case <-time.After(timeout / 32):
		case <-c.done:
			return sent, ErrLost
		}
	}
}

func (c *Conn) trySync() (code int32, err error) {
	c.link.mu.Lock()
	call, err := c.addLocked(opSync, func(b []byte) []byte { return jute.AppendString(b, "/") }, nil)
	c.link.mu.Unlock()
	if err != nil {
		return 0, err
	}
	c.signal()

	<-call.Done()
	code, _, _, err = call.Answer()
	return code, err
}
