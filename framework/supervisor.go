package framework

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/internal/pauses"
)

// supervise owns the client's sessions: when a session is over, it starts the next one.
func (c *Client) supervise() {
	between := newSessionBackoff()
	for c.ctx.Err() == nil {
		s := c.startSession()
		c.spawn(func(context.Context) { s.watches.LookAgain() })
		s.superviseDeadline()
		lived := s.lived()
		if !c.spawn(func(context.Context) { s.close() }) {
			s.close() // the client was closed meanwhile, and Close may not know of this session
		}
		_ = pauses.Sleep(c.ctx, between.after(lived))
	}
}

// startSession replaces the client's session by a new one, which begins to connect.
func (c *Client) startSession() *Session {
	s := &Session{
		client:   c,
		ready:    make(chan struct{}),
		begun:    time.Now(),
		wake:     make(chan struct{}, 1),
		lastConn: make(chan struct{}),
		gone:     make(chan struct{}),
	}
	s.ctx, s.cancel = context.WithCancelCause(c.ctx)
	s.uninterrupted, s.interrupt = context.WithCancelCause(s.ctx)
	servers := c.serverList.servers()
	s.hosts = &hosts{servers: servers, tried: len(servers), pauses: newPauses(shortestRoundPause, longestRoundPause)}
	s.watches = watches.NewSession(c.persistent, s.ownerOfWatches())
	seen := c.retire()
	s.link = transport.NewLink(s.linkConfig(seen))
	s.watches.Begin(s.link)

	c.mu.Lock()
	c.session, c.earlierZxid = s, seen
	c.mu.Unlock()

	conn, events, err := zk.Connect(c.addresses, c.cfg.sessionTimeout,
		zk.WithDialer(s.dial),
		zk.WithHostProvider(s.hosts),
		zk.WithEventCallback(s.event), // the channel drops events when it is full
		zk.WithLogger(libraryLogger{c.core}),
		zk.WithMaxBufferSize(libraryBuffer),
		zk.WithMaxConnBufferSize(libraryBuffer),
	)
	if err != nil { // only for an empty server list or a failing Init, which cannot happen
		panic("framework: zk.Connect: " + err.Error())
	}
	s.conn, s.drain = conn, events
	close(s.ready)
	return s
}

// retire stops the previous session from receiving answers, and returns LastZxid. A
// later answer on its connection must not reach a caller, because the next session
// could then read older data.
func (c *Client) retire() (lastZxid int64) {
	c.mu.Lock()
	s, earlier := c.session, c.earlierZxid
	c.mu.Unlock()
	if s == nil {
		return earlier
	}
	return max(earlier, s.link.Retire())
}

// libraryBuffer is enough for everything that the library itself sends and reads:
// handshakes, pings and the end of the session. By default, the library allocates three
// megabytes for each connection.
const libraryBuffer = 4 << 10

// sessionBackoff computes the pause before the next session. Pauses are necessary with
// a server that grants sessions and loses them at once, or with a balancer between two
// ensembles: each session costs a handshake, and the library allocates one and a half
// megabytes.
type sessionBackoff struct {
	pauses backoff.BackOff
	losses int // the number of short sessions lost in a row
}

const (
	// settledSession is how long a session must live to reset the pauses.
	settledSession = longestRoundPause

	shortestSessionPause = 100 * time.Millisecond
	longestSessionPause  = 10 * time.Second
)

func newSessionBackoff() *sessionBackoff {
	return &sessionBackoff{pauses: newPauses(shortestSessionPause, longestSessionPause)}
}

// after returns the pause after a session that has lived for the given time, which is 0
// if the session was never connected. There is no pause after the first loss, because
// callers are already waiting.
func (b *sessionBackoff) after(lived time.Duration) time.Duration {
	if lived >= settledSession {
		b.pauses.Reset()
		b.losses = 0
		return 0
	}
	b.losses++
	switch {
	case lived == 0: // a server that rejects new sessions
		return max(b.pauses.NextBackOff(), longestRoundPause)
	case b.losses == 1:
		return 0
	default:
		return b.pauses.NextBackOff()
	}
}
