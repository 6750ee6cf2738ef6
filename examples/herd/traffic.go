package main

import (
	"context"
	"encoding/binary"
	"net"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
)

// counts are the traffic of connections, without pings and handshakes.
type counts struct {
	woken    int // clients that received an event
	events   int // watch events
	requests int
	bytes    int // sent and received
}

func (c counts) add(d counts) counts {
	return counts{c.woken + d.woken, c.events + d.events, c.requests + d.requests, c.bytes + d.bytes}
}

func (c counts) sub(d counts) counts {
	return counts{c.woken - d.woken, c.events - d.events, c.requests - d.requests, c.bytes - d.bytes}
}

// traffic counts what passes through the connections of an experiment's
// clients.
type traffic struct {
	mu      sync.Mutex // protects the fields below
	total   counts     // its woken is not used
	replies int
	taken   counts        // the part of total that take has returned
	woken   map[int]bool  // clients that received an event since the last take
	changed chan struct{} // closed and replaced with every frame
}

func newTraffic() *traffic {
	return &traffic{woken: map[int]bool{}, changed: make(chan struct{})}
}

// take returns the counts since the last take.
func (t *traffic) take() counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.total.sub(t.taken)
	c.woken = len(t.woken)
	t.taken = t.total
	clear(t.woken)
	return c
}

// waitUntil waits until cond holds. It gets the totals since the beginning.
func (t *traffic) waitUntil(ctx context.Context, cond func(total counts, replies int) bool) error {
	for {
		t.mu.Lock()
		ok, changed := cond(t.total, t.replies), t.changed
		t.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// waitSilent waits until every request has its reply and nothing has passed for
// the time d.
func (t *traffic) waitSilent(ctx context.Context, d time.Duration) error {
	for {
		t.mu.Lock()
		answered, changed := t.replies == t.total.requests, t.changed
		t.mu.Unlock()
		silent := time.After(d)
		if !answered {
			silent = nil
		}
		select {
		case <-changed:
		case <-silent:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// The xids of frames that are not replies to requests.
const (
	xidEvent = -1
	xidPing  = -2
)

func (t *traffic) sent(frame []byte) {
	if xidOf(frame) == xidPing {
		return
	}
	t.count(func() { t.total.requests++ }, frame)
}

func (t *traffic) received(client int, frame []byte) {
	switch xidOf(frame) {
	case xidPing:
	case xidEvent:
		t.count(func() { t.total.events++; t.woken[client] = true }, frame)
	default:
		t.count(func() { t.replies++ }, frame)
	}
}

func (t *traffic) count(as func(), frame []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	as()
	t.total.bytes += lengthSize + len(frame)
	close(t.changed)
	t.changed = make(chan struct{})
}

func xidOf(frame []byte) int32 { return int32(binary.BigEndian.Uint32(frame)) }

// dialer returns a dialer for one client that counts the traffic of its
// connections.
func (t *traffic) dialer(client int, dial framework.DialFunc) framework.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		nc, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{
			Conn: nc,
			out:  frameSplitter{handle: t.sent},
			in:   frameSplitter{handle: func(frame []byte) { t.received(client, frame) }},
		}, nil
	}
}

// countedConn is a connection that counts its traffic. It has one reader and
// one writer.
type countedConn struct {
	net.Conn
	out frameSplitter // owned by the writer
	in  frameSplitter // owned by the reader
}

func (c *countedConn) Write(p []byte) (int, error) {
	// Before the write, so that no reply is counted before its request.
	c.out.feed(p)
	return c.Conn.Write(p)
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.in.feed(p[:n])
	return n, err
}

// frameSplitter splits a stream into the frames of ZooKeeper's protocol. The
// first frame is part of the handshake and is not counted.
type frameSplitter struct {
	handle        func(frame []byte)
	handshakeSeen bool
	rest          []byte
}

const lengthSize = 4

func (f *frameSplitter) feed(p []byte) {
	f.rest = append(f.rest, p...)
	for len(f.rest) >= lengthSize {
		end := lengthSize + int(binary.BigEndian.Uint32(f.rest))
		if len(f.rest) < end {
			return
		}
		if f.handshakeSeen {
			f.handle(f.rest[lengthSize:end])
		}
		f.handshakeSeen = true
		f.rest = f.rest[end:]
	}
}
