//go:build real

package interop_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// fastStartFlags are for a virtual machine that lives for a few seconds. A
// costly compiler and garbage collector do not pay off there.
var fastStartFlags = []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"}

// sharedHost is started by the first test that needs a peer.
var sharedHost = &lazyHost{}

// lazyHost is a Java process with many peers. The start of a process costs more
// than most tests. Peers share nothing but the process: each has a client and a
// separate connection.
type lazyHost struct {
	addr string // where each connection is a peer
	log  output // what the process writes to stderr

	once    sync.Once
	process *exec.Cmd
	stdin   io.Closer
	err     error
}

// get skips or fails the test like lazyInstallation.get.
func (h *lazyHost) get(t testing.TB) *lazyHost {
	t.Helper()
	inst := javaCurator.get(t)
	h.once.Do(func() { h.err = h.start(inst) })
	if h.err != nil {
		t.Fatalf("the Java host does not start: %v\n%s", h.err, h.log.from(0))
	}
	return h
}

func (h *lazyHost) start(inst installation) error {
	h.process = inst.command(fastStartFlags)
	h.process.Stderr = &h.log
	stdin, err := h.process.StdinPipe()
	if err != nil {
		return err
	}
	h.stdin = stdin
	stdout, err := h.process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := h.process.Start(); err != nil {
		return err
	}
	port, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return fmt.Errorf("no port: %w", err)
	}
	h.addr = net.JoinHostPort("127.0.0.1", strings.TrimSpace(port))
	return nil
}

// close ends the process, if it has been started.
func (h *lazyHost) close() error {
	if h.process == nil || h.process.Process == nil {
		return nil
	}
	h.stdin.Close()
	return h.process.Wait()
}

// output collects what a process writes. It is safe for concurrent use.
type output struct {
	mu    sync.Mutex // protects bytes
	bytes bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes.Write(p)
}

func (o *output) len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes.Len()
}

// from returns what was written after the first n bytes.
func (o *output) from(n int) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.bytes.Bytes()[n:])
}
