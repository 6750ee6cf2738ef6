//go:build real

package interop_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// peer is a client in Java that obeys commands. The comment in java/Peer.java
// lists them.
type peer struct {
	commands io.WriteCloser
	process  *exec.Cmd // nil of a peer in the shared process
	log      *output   // what the process writes to stderr
	logFrom  int       // where the log of this peer begins
	// done is closed by listen at its very end, when the peer has ended.
	done chan struct{}

	mu      sync.Mutex // protects the fields below
	last    int        // the number of the last command
	waiting map[int]chan<- string
}

// startPeer returns a peer that has a session. It shares its process with other
// peers, and ends with the test at the latest.
func startPeer(t testing.TB, addr string, session time.Duration) *peer {
	t.Helper()
	return startPeerOf(t, "", addr, session)
}

// startPeerOf is startPeer for a peer with the classes of a class path, if that is
// not empty.
func startPeerOf(t testing.TB, classPath, addr string, session time.Duration) *peer {
	t.Helper()
	host := sharedHost.get(t)
	nc, err := net.Dial("tcp", host.addr)
	require.NoError(t, err)
	fmt.Fprintln(nc, strings.TrimSpace(fmt.Sprint(addr, " ", session.Milliseconds(), " ", classPath)))
	p := &peer{commands: nc.(*net.TCPConn), log: &host.log, logFrom: host.log.len()}
	p.start(t, nc)
	return p
}

// startProcess is startPeer for a peer in another process, which the test
// may kill.
func startProcess(t testing.TB, addr string, session time.Duration) *peer {
	t.Helper()
	return startProcessWith(t, fastStartFlags, addr, session)
}

// startProcessWith is startProcess with the given flags for the virtual
// machine.
func startProcessWith(t testing.TB, flags []string, addr string, session time.Duration) *peer {
	t.Helper()
	return startProgram(t, javaCurator.get(t).command(flags, addr, strconv.FormatInt(session.Milliseconds(), 10)))
}

// startProgram starts a peer that is another program. Benchmarks have some in
// other languages.
func startProgram(t testing.TB, cmd *exec.Cmd) *peer {
	t.Helper()
	p, err := tryProgram(t, cmd)
	require.NoError(t, err)
	return p
}

// tryProgram is startProgram for one without which a benchmark goes on.
func tryProgram(t testing.TB, cmd *exec.Cmd) (*peer, error) {
	p := &peer{process: cmd, log: &output{}}
	p.process.Stderr = p.log
	var err error
	if p.commands, err = p.process.StdinPipe(); err != nil {
		return nil, err
	}
	answers, err := p.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.process.Start(); err != nil {
		return nil, err
	}
	if err := p.tryStart(t, answers); err != nil {
		p.kill()
		return nil, fmt.Errorf("%w: %s", err, p.log.from(0))
	}
	return p, nil
}

// start waits for the session.
func (p *peer) start(t testing.TB, answers io.Reader) {
	t.Helper()
	require.NoError(t, p.tryStart(t, answers))
}

func (p *peer) tryStart(t testing.TB, answers io.Reader) error {
	p.done, p.waiting = make(chan struct{}), map[int]chan<- string{}
	ready := p.expect(0)
	go p.listen(answers)
	t.Cleanup(func() { p.close(t) })
	// Many processes may start at the same time.
	ctx, cancel := context.WithTimeout(context.Background(), 2*waitLimit)
	defer cancel()
	_, err := p.await(ctx, ready)
	return err
}

// close lets the peer end its session.
func (p *peer) close(t testing.TB) {
	p.endCommands()
	select {
	case <-p.done:
	case <-time.After(waitLimit):
		t.Error("the peer did not end by itself")
		p.kill()
	}
	if t.Failed() {
		t.Logf("the peer's process wrote:\n%s", p.log.from(p.logFrom))
	}
}

// endCommands closes the side of the connection that has the commands. The peer
// closes the other side when its session has ended.
func (p *peer) endCommands() {
	if nc, ok := p.commands.(*net.TCPConn); ok {
		nc.CloseWrite()
		return
	}
	p.commands.Close()
}

// kill ends the peer's own process like a crash. The session goes on until the
// server ends it. A peer in the shared process is only cut off from the test.
func (p *peer) kill() {
	if p.process != nil {
		p.process.Process.Kill()
	} else {
		p.commands.Close()
	}
	<-p.done
}

// listen delivers the answers to their waiting callers. It ends with the peer.
func (p *peer) listen(answers io.Reader) {
	defer close(p.done)
	lines := bufio.NewScanner(answers)
	for lines.Scan() {
		number, text, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.Atoi(number)
		p.mu.Lock()
		answer := p.waiting[n]
		delete(p.waiting, n)
		p.mu.Unlock()
		if err == nil && answer != nil {
			answer <- text
		}
	}
	p.commands.Close()
	if p.process != nil {
		p.process.Wait()
	}
}

func (p *peer) expect(number int) <-chan string {
	answer := make(chan string, 1) // listen must not block
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[number] = answer
	return answer
}

// ask sends a command and returns the words after "ok" in its answer.
func (p *peer) ask(ctx context.Context, command ...any) ([]string, error) {
	p.mu.Lock()
	p.last++
	number := p.last
	p.mu.Unlock()
	answer := p.expect(number)
	if _, err := fmt.Fprintln(p.commands, append([]any{number}, command...)...); err != nil {
		return nil, err
	}
	words, err := p.await(ctx, answer)
	if err != nil {
		return nil, fmt.Errorf("peer: %v: %w", command, err)
	}
	return words, nil
}

var (
	errTimeout = errors.New("timeout")
	errPeer    = errors.New("the peer has ended")
)

func (p *peer) await(ctx context.Context, answer <-chan string) ([]string, error) {
	select {
	case text := <-answer:
		words := strings.Fields(text)
		switch words[0] {
		case "ok":
			return words[1:], nil
		case "timeout":
			return nil, errTimeout
		}
		return nil, errors.New(text)
	case <-p.done:
		return nil, errPeer
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// must is ask, but fails the test on an error.
func (p *peer) must(t *testing.T, command ...any) []string {
	t.Helper()
	words, err := p.ask(withDeadline(t), command...)
	require.NoError(t, err)
	return words
}
