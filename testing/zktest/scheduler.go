package zktest

import (
	"math/rand/v2"
	"sync"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// message is a [zkinside.Message] on its way.
type message struct {
	zkinside.Message
	arrived chan struct{} // closed when it is delivered
	action  Action        // set before the message arrives; apply may be nil
}

// scheduledRandom returns the source of a connection's random numbers, if there is a
// scheduler.
func (c *conn) scheduledRandom() *rand.Rand {
	if c.srv.cfg.Schedule == nil {
		return nil
	}
	return rand.New(rand.NewPCG(0, uint64(c.seq)))
}

// scheduleRequest passes a request to the scheduler, and waits until the request arrives. It
// returns false if the connection ended meanwhile.
func (c *conn) scheduleRequest(x *exchange) bool {
	if c.srv.cfg.Schedule == nil {
		return true
	}
	c.srv.mu.Lock()
	if c.sess != nil {
		x.req.Session = c.sess.id
	}
	c.srv.mu.Unlock()
	m := c.post(x.req, func(*zkinside.Message) {})
	select {
	case <-m.arrived:
		x.scheduled = m.action
		return true
	case <-c.done:
		return false
	}
}

// scheduleAnswerLocked passes the answer to a request to the scheduler. If the returned
// channel is not nil, it is closed when the answer may arrive.
func (x *exchange) scheduleAnswerLocked() <-chan struct{} {
	if x.srv.cfg.Schedule == nil {
		return nil
	}
	return x.conn.post(x.req, func(m *zkinside.Message) { m.Answer = true }).arrived
}

// scheduleEventLocked is scheduleAnswerLocked for a watch event.
func (c *conn) scheduleEventLocked(event wire.EventType, path string) <-chan struct{} {
	if c.srv.cfg.Schedule == nil {
		return nil
	}
	req := Request{Path: path}
	if c.sess != nil {
		req.Session = c.sess.id
	}
	return c.post(req, func(m *zkinside.Message) { m.Event = event.String() }).arrived
}

// post passes a message to the scheduler, after the change.
func (c *conn) post(req Request, change func(*zkinside.Message)) *message {
	m := &message{arrived: make(chan struct{})}
	var once sync.Once
	m.Message = zkinside.Message{
		Member: c.srv.number(), Conn: c.seq, Request: req,
		Deliver: func(action any) {
			once.Do(func() {
				m.action, _ = action.(Action)
				close(m.arrived)
			})
		},
		Lost: func() bool {
			select {
			case <-c.done:
				return true
			default:
				return false
			}
		},
	}
	if c.host != nil {
		m.Host = c.host
	}
	change(&m.Message)
	c.srv.cfg.Schedule(&m.Message)
	return m
}
