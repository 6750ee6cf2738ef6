package interop_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// peer is a process of java/Peer.java. The comment there lists its commands.
type peer struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr bytes.Buffer // may be read once done is closed
	// done is closed by listen at its very end, when the process has ended.
	done chan struct{}

	mu      sync.Mutex // protects the fields below
	last    int        // the number of the last command
	waiting map[int]chan<- string
}

// startPeer returns a process that has a session. It ends with the test at the
// latest.
func startPeer(t *testing.T, addr string, session time.Duration) *peer {
	t.Helper()
	return startPeerIn(t, fastStartFlags, addr, session)
}

// fastStartFlags are for a virtual machine that lives for a second. A costly
// compiler and garbage collector do not pay off there.
var fastStartFlags = []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m"}

// startPeerIn is startPeer with the given flags for the virtual machine.
func startPeerIn(t testing.TB, flags []string, addr string, session time.Duration) *peer {
	t.Helper()
	inst := javaCurator.get(t)
	p := &peer{done: make(chan struct{}), waiting: map[int]chan<- string{}}
	p.cmd = exec.Command(inst.java, append(slices.Clone(flags),
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", inst.classPath,
		"Peer", addr, strconv.FormatInt(session.Milliseconds(), 10))...)
	p.cmd.Stderr = &p.stderr
	var err error
	p.stdin, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	ready := p.expect(0)
	require.NoError(t, p.cmd.Start())
	go p.listen(stdout)
	t.Cleanup(func() { p.close(t) })
	_, err = p.await(withDeadline(t), ready)
	require.NoError(t, err)
	return p
}

// close lets the process end its session, and kills it if that takes too long.
func (p *peer) close(t testing.TB) {
	p.stdin.Close()
	select {
	case <-p.done:
	case <-time.After(waitLimit):
		t.Error("the Java process did not end by itself")
		p.kill()
	}
	if t.Failed() {
		t.Logf("the Java process wrote:\n%s", &p.stderr)
	}
}

// kill ends the process like a crash. The session goes on until the server ends
// it.
func (p *peer) kill() {
	p.cmd.Process.Kill()
	<-p.done
}

// listen delivers the answers to their waiting callers. It ends with the
// process.
func (p *peer) listen(stdout io.Reader) {
	defer close(p.done)
	lines := bufio.NewScanner(stdout)
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
	p.cmd.Wait()
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
	if _, err := fmt.Fprintln(p.stdin, append([]any{number}, command...)...); err != nil {
		return nil, err
	}
	words, err := p.await(ctx, answer)
	if err != nil {
		return nil, fmt.Errorf("java: %v: %w", command, err)
	}
	return words, nil
}

var (
	errTimeout = errors.New("timeout")
	errPeer    = errors.New("the process has ended")
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
