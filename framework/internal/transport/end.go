package transport

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/gocurator/curator/framework/internal/proto"
)

// Unanswered is a request that a connection has ended with.
type Unanswered struct {
	Request
	Held time.Duration // for how long the connection had been established when it was sent

	// Taken says that the server has begun to answer this request. So it knows what
	// that is.
	Taken bool

	// Probe says that it is that of Link.ProbeMultiRead.
	Probe bool

	// Refusal is the server's answer, if that was an error for which the client
	// has ended the connection.
	Refusal int32
}

// end closes the connection for an error. It tells the owner of the link which
// requests the connection has ended with. The answer to one of them may have
// begun to arrive.
//
// A read and a write may fail at the same moment, and both fail when we close
// the connection. So only the first end counts.
func (c *Conn) end(err error, answering int32) {
	if c.beginEnd() {
		c.tellEnd(c.unanswered(err, answering))
		c.finishEnd()
		return
	}
	<-c.ended
}

// endRefused ends the connection because the server will not set the watches
// again. Their users would wait for ever.
func (c *Conn) endRefused(call *Call, code int32) {
	if c.beginEnd() {
		c.tellEnd([]Unanswered{{Request: call.request, Held: call.held, Refusal: code}})
		c.finishEnd()
		return
	}
	<-c.ended
}

// Close ends the connection. It does not wait for the connection's goroutines,
// because they call it; Link.Close does.
func (c *Conn) Close() error {
	if c.beginEnd() {
		c.finishEnd()
	}
	<-c.ended
	return nil
}

// beginEnd reports whether nothing has ended the connection before.
func (c *Conn) beginEnd() bool {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	first := !c.ending
	c.ending = true
	return first
}

func (c *Conn) tellEnd(all []Unanswered) {
	if len(all) > 0 && c.link.cfg.Ended != nil {
		c.link.cfg.Ended(all)
	}
}

func (c *Conn) finishEnd() {
	close(c.done)
	c.Conn.Close()
	c.failCalls()
	close(c.ended)
}

// unanswered returns the requests that may be the reason why the connection
// ends. A request whose answer has begun to arrive is the one. A peer that is
// silent has not ended the connection for a request.
func (c *Conn) unanswered(err error, answering int32) (all []Unanswered) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	if c.closed || c.link.closed || !c.established {
		return nil
	}
	if call := c.calls[answering]; call != nil {
		return []Unanswered{{Request: call.request, Held: call.held, Taken: true}}
	}
	if os.IsTimeout(err) {
		return nil
	}
	for _, xid := range slices.SortedFunc(maps.Keys(c.calls), cmp.Compare[int32]) {
		call := c.calls[xid]
		all = append(all, Unanswered{
			Request: call.request, Held: call.held, Probe: call == c.multiReads.probe,
		})
	}
	return all
}

// noteAnswer notes which answer begins to arrive, once its header is there.
func (c *Conn) noteAnswer() {
	if !c.handshake.done {
		return
	}
	h, _, _ := proto.ReadReplyHeader(c.buf[lengthSize:])
	c.answering = h.Xid
}

// skipAnswer leaves out all but the header of an answer that is too long for
// memory. Were the connection to end, the request would be made again, and
// answered in the same way.
func (c *Conn) skipAnswer(n int) error {
	c.noteAnswer()
	c.link.mu.Lock()
	ours := c.calls[c.answering] != nil
	c.link.mu.Unlock()
	if !ours {
		return fmt.Errorf("%w: length %d", errMalformed, n)
	}
	_, err := c.in.Discard(n - replyHeaderSize)
	return err
}
