package main

import (
	"context"
	"encoding/binary"
	"net"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
)

// counts are what was on connections, without pings and handshakes.
type counts struct {
	woken    int // clients that were sent an event
	events   int // of watches
	requests int
	bytes    int // in both directions
}

func (c counts) plus(d counts) counts {
	return counts{c.woken + d.woken, c.events + d.events, c.requests + d.requests, c.bytes + d.bytes}
}

func (c counts) minus(d counts) counts {
	return counts{c.woken - d.woken, c.events - d.events, c.requests - d.requests, c.bytes - d.bytes}
}

// traffic counts what is on the connections of all clients of an experiment.
type traffic struct {
	mu      sync.Mutex // protects the following fields
	total   counts     // but for woken
	replies int
	taken   counts        // of the total, by take
	woken   map[int]bool  // the clients that were sent an event since the last take
	changed chan struct{} // closed, and replaced, with every frame
}

func newTraffic() *traffic {
	return &traffic{woken: map[int]bool{}, changed: make(chan struct{})}
}

// take returns what was counted since the last take.
func (t *traffic) take() counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.total.minus(t.taken)
	c.woken = len(t.woken)
	t.taken = t.total
	clear(t.woken)
	return c
}

// waitUntil waits until cond, which is about the total.
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

// waitSilent waits until there was nothing for some time, and nobody waits for an answer.
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

// The xids by which frames that are no answers to requests are known.
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

// dialer returns a dialer whose connections are counted, for one client.
func (t *traffic) dialer(client int, dial framework.DialFunc) framework.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		nc, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{
			Conn: nc,
			out:  frames{each: t.sent},
			in:   frames{each: func(frame []byte) { t.received(client, frame) }},
		}, nil
	}
}

// countedConn is a connection that has one reader and one writer.
type countedConn struct {
	net.Conn
	out frames // owned by the writer
	in  frames // owned by the reader
}

func (c *countedConn) Write(p []byte) (int, error) {
	c.out.feed(p) // first, so that no answer is counted before its request
	return c.Conn.Write(p)
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.in.feed(p[:n])
	return n, err
}

// frames cuts a stream into the frames of ZooKeeper's protocol. The first is a part of the handshake and does not count.
type frames struct {
	each    func(frame []byte)
	greeted bool
	rest    []byte
}

const lengthSize = 4

func (f *frames) feed(p []byte) {
	f.rest = append(f.rest, p...)
	for len(f.rest) >= lengthSize {
		end := lengthSize + int(binary.BigEndian.Uint32(f.rest))
		if len(f.rest) < end {
			return
		}
		if f.greeted {
			f.each(f.rest[lengthSize:end])
		}
		f.greeted = true
		f.rest = f.rest[end:]
	}
}
