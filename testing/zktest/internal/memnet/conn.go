package memnet

import (
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// Pipe returns the two ends of a connection to address.
func Pipe(address string) (client, server *Conn) {
	const clientAddr = Addr("127.0.0.1:49152")
	up, down := newStream(), newStream()
	client = &Conn{in: down, out: up, local: clientAddr, remote: Addr(address)}
	server = &Conn{in: up, out: down, local: Addr(address), remote: clientAddr}
	return client, server
}

// Conn is one end of a connection.
type Conn struct {
	in, out       *stream
	local, remote Addr
}

// Read waits for at least one byte, the end of the connection, or the deadline.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	return n, c.wrap("read", err)
}

// Write waits until all of p was sent, the connection ends, or the deadline passes.
func (c *Conn) Write(p []byte) (int, error) {
	n, err := c.out.write(p)
	return n, c.wrap("write", err)
}

// CloseWrite is TCP's half-close: the peer reads all earlier bytes, and then io.EOF.
func (c *Conn) CloseWrite() error {
	c.out.closeWriter(io.EOF)
	return nil
}

// wrap returns an error of the type that package net uses.
func (c *Conn) wrap(op string, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}

// Close closes the connection: the peer reads all earlier bytes, and then io.EOF. From now
// on, the peer's writes fail.
func (c *Conn) Close() error {
	c.in.closeReader()
	c.out.closeWriter(io.EOF)
	return nil
}

// Closed reports whether Close was called.
func (c *Conn) Closed() bool {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	return c.in.readerClosed
}

// SetLinger with 0 resets the connection at once, before Close: the peer loses all unread
// bytes. Other values have no effect.
func (c *Conn) SetLinger(sec int) error {
	if sec == 0 {
		c.out.closeWriter(syscall.ECONNRESET)
	}
	return nil
}

// LocalAddr returns an [Addr].
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns an [Addr].
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline sets the deadlines of reads and writes.
func (c *Conn) SetDeadline(t time.Time) error {
	c.in.setDeadline(&c.in.readBy, t)
	c.out.setDeadline(&c.out.writeBy, t)
	return nil
}

// SetReadDeadline makes reads fail from the time t on. With the zero time, reads never time
// out.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.in.setDeadline(&c.in.readBy, t)
	return nil
}

// SetWriteDeadline makes writes fail from the time t on. With the zero time, writes never
// time out.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.out.setDeadline(&c.out.writeBy, t)
	return nil
}
