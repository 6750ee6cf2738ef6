package zktest

import (
	"bufio"
	"io"
	"net"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// start begins to serve a connection from a host, which may be nil. If the server accepts no
// connections, start closes nc and returns false. A client behind a black hole does not
// notice that.
func (s *Server) start(nc net.Conn, h *Host) bool {
	s.mu.Lock()
	defer s.unlock()
	isolated := h != nil && h.isolated
	unreachable := isolated || s.blackHole // dialing succeeds, but the client receives nothing
	if s.closed || (s.stopped || s.refusing) && !unreachable {
		nc.Close()
		return false
	}
	if s.member != nil && s.member.leader == nil && !unreachable {
		nc.Close() // a process without a leader accepts connections and closes them
		return true
	}
	s.accepted++
	c := &conn{
		srv: s, host: h, seq: s.accepted, nc: nc, done: make(chan struct{}),
		out: newOutbox(func() { nc.Close() }, &s.queued),
		ids: []wire.ID{ipID(nc.RemoteAddr().String())},
	}
	c.rng = c.scheduledRandom()
	if unreachable {
		c.blackHoleLocked()
	}
	if s.conns == nil {
		s.conns = make(map[*conn]struct{})
	}
	s.conns[c] = struct{}{}
	s.wg.Go(c.serve)
	s.wg.Go(c.deliver)
	return true
}

func (c *conn) serve() {
	r := bufio.NewReader(c.nc)
	ends := false // the connection is about to end
	defer func() {
		if !ends { // a function given to Call may have ended this goroutine
			c.close()
		}
	}()
	if word := fourLetterWord(r); word != "" {
		c.answerWord(word, r)
		ends = true
		return
	}
	decode := c.decodeConnect
	for {
		c.behind.Store(r.Buffered() > 0)
		frame, err := wire.ReadFrame(r)
		var x *exchange
		if err == nil {
			x, err = decode(frame)
		}
		if err != nil {
			c.swallow(r)
			return
		}
		if !c.simulateLatency(x) || !c.scheduleRequest(x) {
			return
		}
		if ends = !c.handle(x); ends {
			return
		}
		decode = c.decodeRequest
	}
}

// swallow reads and drops all data of a connection whose requests have no effect. The client
// of a black hole must not notice that the server would have ended the connection.
func (c *conn) swallow(r io.Reader) {
	c.srv.mu.Lock()
	receives := c.receivesLocked()
	c.srv.mu.Unlock()
	if !receives {
		_, _ = io.Copy(io.Discard, r)
	}
}

// deliver writes frames in order and flushes when there is none left.
func (c *conn) deliver() {
	defer c.close()
	w := bufio.NewWriter(c.nc)
	for {
		f, finished := c.out.head()
		if f == nil {
			if w.Flush() != nil || finished {
				return
			}
			select {
			case <-c.out.wake:
			case <-c.done:
				return
			}
			continue
		}
		if f.held() && (w.Flush() != nil || !f.wait(c.done)) {
			return
		}
		if !c.out.take(f) {
			continue
		}
		if _, err := w.Write(f.bytes); err != nil {
			return
		}
	}
}
