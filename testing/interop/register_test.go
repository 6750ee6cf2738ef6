package interop_test

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// register is what the lock guards. It knows nothing of ZooKeeper: whoever holds the lock says "enter LANGUAGE TOKEN" and
// "leave" on a TCP connection of its own, and is answered "ok", or told what is wrong.
type register struct {
	listener net.Listener
	serving  sync.WaitGroup // the acceptor, and one for each connection

	mu struct {
		sync.Mutex
		inside io.Writer // the connection that has entered; nil if none
		token  int64     // of the last to enter
		last   language
		stats  tally
		wrong  []string
	}
}

// tally counts what has happened at the register.
type tally struct {
	entered  map[language]int
	crossing int // one language entered after the other
}

// openRegister returns a register that is closed at the end of the test, and fails it if anything was wrong.
func openRegister(t *testing.T) *register {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &register{listener: listener}
	r.mu.stats.entered = map[language]int{}
	r.serving.Go(r.accept)
	t.Cleanup(func() {
		listener.Close()
		r.serving.Wait()
		require.Empty(t, r.mu.wrong)
	})
	return r
}

func (r *register) addr() string { return r.listener.Addr().String() }

func (r *register) accept() {
	for {
		nc, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.serving.Go(func() { r.serve(nc) })
	}
}

// serve ends when the other side hangs up.
func (r *register) serve(nc net.Conn) {
	defer nc.Close()
	lines := bufio.NewScanner(nc)
	for lines.Scan() {
		fmt.Fprintln(nc, r.judge(nc, lines.Text()))
	}
}

func (r *register) judge(from io.Writer, line string) string {
	var who language
	var token int64
	r.mu.Lock()
	defer r.mu.Unlock()
	verdict := "ok"
	if line == "leave" {
		if r.mu.inside != from {
			verdict = "left, but was not inside"
		}
		r.mu.inside = nil
	} else if _, err := fmt.Sscanf(line, "enter %s %d", &who, &token); err != nil {
		verdict = fmt.Sprintf("%q: %v", line, err)
	} else {
		verdict = r.enter(from, who, token)
	}
	if verdict != "ok" {
		r.mu.wrong = append(r.mu.wrong, verdict)
	}
	return verdict
}

// enter must be called with mu held.
func (r *register) enter(from io.Writer, who language, token int64) string {
	last, lastToken, occupied := r.mu.last, r.mu.token, r.mu.inside != nil
	r.mu.inside, r.mu.token, r.mu.last = from, token, who
	r.mu.stats.entered[who]++
	if last != who && last != "" {
		r.mu.stats.crossing++
	}
	switch {
	case occupied:
		return fmt.Sprintf("%s entered with token %d while %s was inside with %d", who, token, last, lastToken)
	case token <= lastToken:
		return fmt.Sprintf("%s entered with token %d after %s with %d", who, token, last, lastToken)
	}
	return "ok"
}

func (r *register) tally() tally {
	r.mu.Lock()
	defer r.mu.Unlock()
	return tally{maps.Clone(r.mu.stats.entered), r.mu.stats.crossing}
}
