package zktest

import (
	"math/rand/v2"
	"sync"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// Message is a request, an answer or a watch event on its way between a client
// and a server, see [WithScheduler]. Messages of one connection in one direction
// arrive in their order: one that is delivered early waits for those before it.
// Its fields must not be changed.
type Message struct {
	Host   *Host // the client's; nil for a client that has none
	Member int   // the server's, see [Member.ID]; 0 for a standalone server
	Conn   int64 // number of the connection, counted from 1 in the order of their beginning
	// Request is the request, or the one that is answered, then with its result.
	// Of an event it has the session and the path only.
	Request Request
	Answer  bool   // the message is the answer
	Event   string // what has happened to the path, such as NodeDeleted; "" unless the message is an event

	once    sync.Once
	arrived chan struct{} // closed when it is delivered
	action  Action        // set before that
	ended   <-chan struct{}
}

// Deliver lets the message arrive. A request arrives with what the actions do to
// it, as if a [Rule] had hit it; other messages take no actions. All but the
// first call do nothing. The error says what is wrong with an action; then the
// message waits as before.
func (m *Message) Deliver(actions ...Action) error {
	all := All(actions...)
	if all.err != nil {
		return all.err
	}
	m.once.Do(func() {
		m.action = all
		close(m.arrived)
	})
	return nil
}

// Lost reports whether the server has closed the connection, so that the message
// cannot arrive any more.
func (m *Message) Lost() bool {
	select {
	case <-m.ended:
		return true
	default:
		return false
	}
}

// WithScheduler hands each message between clients and servers to a function,
// which decides when it arrives: it waits for [Message.Deliver]. So a test
// chooses among all the orders in which things may happen. Package explore does
// that for you.
//
// The function must return at once, and must not call the server. It is called
// with messages of one connection in their order. Messages that nobody delivers
// wait for the end of their connection. With a scheduler, listings come in an
// order that depends on nothing but the number of the connection.
//
// It does not go with [WithChaos] and [Server.StartFaults], which are errors then.
func WithScheduler(schedule func(*Message)) Option {
	return func(c *config) {
		if schedule == nil {
			c.reject("a nil scheduler")
			return
		}
		c.schedule = schedule
	}
}

// scheduledRandom is the source of a connection's random numbers, if there is a
// scheduler.
func (c *conn) scheduledRandom() *rand.Rand {
	if c.srv.cfg.schedule == nil {
		return nil
	}
	return rand.New(rand.NewPCG(0, uint64(c.seq)))
}

// scheduleRequest lets the scheduler have a request, and waits until it arrives.
// It reports false if the connection ended meanwhile.
func (c *conn) scheduleRequest(x *exchange) bool {
	if c.srv.cfg.schedule == nil {
		return true
	}
	c.srv.mu.Lock()
	if c.sess != nil {
		x.req.Session = c.sess.id
	}
	c.srv.mu.Unlock()
	m := c.message(x.req)
	c.srv.cfg.schedule(m)
	select {
	case <-m.arrived:
		x.scheduled = m.action
		return true
	case <-c.done:
		return false
	}
}

// scheduleAnswerLocked lets the scheduler have the answer to a request. The
// channel, if there is one, is closed when the answer may arrive.
func (x *exchange) scheduleAnswerLocked() <-chan struct{} {
	if x.srv.cfg.schedule == nil {
		return nil
	}
	m := x.conn.message(x.req)
	m.Answer = true
	x.srv.cfg.schedule(m)
	return m.arrived
}

// scheduleEventLocked is scheduleAnswerLocked for a watch event.
func (c *conn) scheduleEventLocked(event wire.EventType, path string) <-chan struct{} {
	if c.srv.cfg.schedule == nil {
		return nil
	}
	req := Request{Path: path}
	if c.sess != nil {
		req.Session = c.sess.id
	}
	m := c.message(req)
	m.Event = event.String()
	c.srv.cfg.schedule(m)
	return m.arrived
}

func (c *conn) message(req Request) *Message {
	return &Message{
		Host: c.host, Member: c.srv.number(), Conn: c.seq, Request: req,
		arrived: make(chan struct{}), ended: c.done,
	}
}
