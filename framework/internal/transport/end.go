package transport

import (
	"fmt"
	"os"

	"github.com/gocurator/curator/framework/internal/proto"
)

// end closes the connection for an error, unless we have closed it. A read and a
// write may fail at the same moment, and both fail when we close the connection. So
// only the first end counts. The requests that are in flight may be the reason. A
// peer that is silent has not ended the connection for a request.
func (c *Conn) end(err error) {
	if c.beginEnd() {
		c.link.mu.Lock()
		c.hungUp = c.established && !c.link.closed && !os.IsTimeout(err)
		c.link.mu.Unlock()
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

func (c *Conn) finishEnd() {
	close(c.done)
	c.Conn.Close()
	c.failCalls()
	close(c.ended)
}

// skipAnswer leaves out all but the header of an answer that is too long for
// memory. Were the connection to end, the request would be made again, and
// answered in the same way.
func (c *Conn) skipAnswer(n int) error {
	h, _, _ := proto.ReadReplyHeader(c.buf[proto.LengthSize:])
	c.link.mu.Lock()
	ours := c.handshake.done && c.calls[h.Xid] != nil
	c.link.mu.Unlock()
	if !ours {
		return fmt.Errorf("%w: length %d", errMalformed, n)
	}
	_, err := c.in.Discard(n - proto.ReplyHeaderSize)
	return err
}
