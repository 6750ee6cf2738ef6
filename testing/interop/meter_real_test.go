//go:build real

package interop_test

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// meter is a relay to a server that counts the traffic of clients in either
// language. Pings and handshakes do not count, since their number depends on
// the time.
type meter struct {
	listener   net.Listener
	target     string
	delay      time.Duration  // of each frame
	goroutines sync.WaitGroup // all goroutines of the relay

	mu       sync.Mutex // protects the fields below
	closed   bool
	refusing bool
	conns    []net.Conn
	requests int
	bytes    int // of requests, replies and events
}

// startMeter returns a relay to the server at target, which ends with the test.
func startMeter(t testing.TB, target string) *meter {
	t.Helper()
	return startDelayed(t, target, 0)
}

// startDelayed is startMeter for a relay that delays each frame, in both directions.
func startDelayed(t testing.TB, target string, delay time.Duration) *meter {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	m := &meter{listener: listener, target: target, delay: delay}
	m.goroutines.Go(m.accept)
	t.Cleanup(m.close)
	return m
}

func (m *meter) addr() string { return m.listener.Addr().String() }

// close breaks the connections and waits for the goroutines.
func (m *meter) close() {
	m.listener.Close()
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.cut()
	m.goroutines.Wait()
}

// cut breaks the connections. The clients may connect again.
func (m *meter) cut() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.conns {
		c.Close()
	}
	m.conns = nil
}

// counted returns the number of requests so far, and of bytes in both
// directions.
func (m *meter) counted() (requests, bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests, m.bytes
}

func (m *meter) accept() {
	for {
		client, err := m.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", m.target)
		if err != nil {
			client.Close()
			continue
		}
		m.track(client, server)
		m.goroutines.Go(func() { m.forward(server, client, 1) })
		m.goroutines.Go(func() { m.forward(client, server, 0) })
	}
}

// track lets close and cut end the connections.
func (m *meter) track(conns ...net.Conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.conns = append(m.conns, conns...)
	if m.closed || m.refusing {
		for _, c := range conns {
			c.Close()
		}
	}
}

// forward copies frames from one side to the other. Each counts as the given
// number of requests.
func (m *meter) forward(to, from net.Conn, requests int) {
	write := func(frame []byte) error { _, err := to.Write(frame); return err }
	if m.delay > 0 {
		later := make(chan sent, 4096)
		defer close(later)
		m.goroutines.Go(func() { m.writeLater(to, later) })
		write = func(frame []byte) error { later <- sent{time.Now(), frame}; return nil }
	} else {
		defer to.Close()
	}
	in := bufio.NewReader(from)
	for handshake := true; ; handshake = false {
		frame, err := readFrame(in)
		if err != nil {
			return
		}
		if !handshake && !isPing(frame) {
			m.mu.Lock()
			m.requests += requests
			m.bytes += len(frame)
			m.mu.Unlock()
		}
		if write(frame) != nil {
			return
		}
	}
}

// sent is a frame that is on its way.
type sent struct {
	at    time.Time
	frame []byte
}

// writeLater writes each frame when it has been on its way for long enough. After an
// error it discards them, so that forward does not block.
func (m *meter) writeLater(to net.Conn, later <-chan sent) {
	defer to.Close()
	alarm, err := newAlarm()
	if err == nil {
		defer alarm.close()
	}
	for s := range later {
		if err == nil {
			err = alarm.sleep(time.Until(s.at.Add(m.delay)))
		}
		if err == nil {
			_, err = to.Write(s.frame)
		}
	}
}

// readFrame returns a frame including its length.
func readFrame(in io.Reader) ([]byte, error) {
	header := make([]byte, 4)
	if _, err := io.ReadFull(in, header); err != nil {
		return nil, err
	}
	frame := append(header, make([]byte, binary.BigEndian.Uint32(header))...)
	_, err := io.ReadFull(in, frame[4:])
	return frame, err
}

func isPing(frame []byte) bool {
	const pingXid = -2
	return len(frame) >= 8 && int32(binary.BigEndian.Uint32(frame[4:])) == pingXid
}
