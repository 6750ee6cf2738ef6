package zkserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

var (
	// ErrClosed is matched by the errors of a server that was closed.
	ErrClosed = errors.New("zkserver: server closed")

	// ErrNotRunning is matched by the errors of Pause and Resume if the server
	// does not run.
	ErrNotRunning = errors.New("zkserver: server not running")

	errRunning   = errors.New("another goroutine has started it")
	errPortTaken = errors.New("another program has taken a port")
)

// stopGrace is how long Stop waits for the server to shut down.
const stopGrace = 10 * time.Second

// Server is one ZooKeeper server. It keeps its address and its data over stops
// and restarts, until Close.
type Server struct {
	config       config
	member       member
	distribution *Distribution
	files        layout
	close        func() error // runs shutdown, once

	mu struct {
		sync.Mutex
		proc   *process // the latest run, which may have ended
		closed bool     // no further run may start
	}
}

// newServer prepares the server's files. From here on the server owns the ports
// of m and releases them in Close.
func newServer(c config, d *Distribution, m member) (*Server, error) {
	dir, err := os.MkdirTemp("", "zkserver-")
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		releasePorts(m.ports())
		return nil, fmt.Errorf("zkserver: %w", err)
	}
	s := &Server{config: c, member: m, distribution: d, files: layout{dir}}
	s.close = sync.OnceValue(s.shutdown)
	if err := s.files.create(c, m); err != nil {
		return nil, errors.Join(fmt.Errorf("zkserver: %w", err), s.Close())
	}
	return s, nil
}

// Addr returns the address for clients, such as 127.0.0.1:20181.
func (s *Server) Addr() string { return s.member.addr() }

// ID returns the server's number in its ensemble, counted from 1. Server 1 has
// the key server.1 in zoo.cfg. The ID of a standalone server is 0, as ZooKeeper
// itself reports it.
func (s *Server) ID() int {
	if s.member.peers == nil {
		return 0
	}
	return s.member.id
}

// Stop shuts the server down and waits for its end. It resumes a paused server
// first. A server that has not ended after ten seconds is killed, and Stop
// returns an error.
func (s *Server) Stop() error {
	if p := s.process(); p.running() {
		return s.wrap("stop", p.terminate(stopGrace))
	}
	return nil
}

// Kill ends the server as a crash does, and waits for its end. The server tells
// neither its clients nor its peers.
func (s *Server) Kill() error {
	if p := s.process(); p.running() {
		return s.wrap("kill", p.kill())
	}
	return nil
}

// Restart starts the server again with the same address and data, and waits
// until it serves. A running server is stopped first. A member of an ensemble
// serves only if a majority runs: use [Ensemble.Restart] if less than a
// majority does.
//
// A standalone server may never answer a client that connects in the first
// moments of the start (ZOOKEEPER-5051). A client of package framework tries
// again within its session timeout. A go-zookeeper client waits for almost
// seven session timeouts.
func (s *Server) Restart() error {
	if err := s.Stop(); err != nil {
		return err
	}
	return s.start("restart")
}

// Wipe kills the server if it runs, and removes its data, as the loss of a disk
// does. A standalone server then begins again with its first transaction. A
// member of an ensemble copies the data from the others.
func (s *Server) Wipe() error {
	if err := s.Kill(); err != nil {
		return err
	}
	return s.wrap("wipe", os.RemoveAll(s.files.transactions()))
}

// Pause freezes the server, as a long garbage collection or a stalled machine
// does. Connections stay up, but the server answers nothing. The error matches
// [errors.ErrUnsupported] on systems without signals to stop a process, such as
// Windows.
//
// Pause returns when the server is frozen, or when another goroutine has resumed
// it meanwhile.
func (s *Server) Pause() error {
	p := s.process()
	if !p.running() {
		return s.wrap("pause", ErrNotRunning)
	}
	resumed, err := p.pause()
	if err != nil {
		return s.wrap("pause", err)
	}
	s.awaitStopped(p, resumed)
	return nil
}

// Resume continues a paused server.
func (s *Server) Resume() error {
	p := s.process()
	if !p.running() {
		return s.wrap("resume", ErrNotRunning)
	}
	return s.wrap("resume", p.resume())
}

// Close kills the server, waits for its end and removes its files. Further
// calls return the same result.
func (s *Server) Close() error { return s.close() }

// start starts a run and waits until it serves. The errors name op.
func (s *Server) start(op string) error {
	p, err := s.launch()
	if err != nil {
		return s.wrap(op, err)
	}
	return s.wrap(op, s.awaitServing(p))
}

// process returns the latest run, or nil before the first.
func (s *Server) process() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.proc
}

// launch starts a run. There is never more than one, since each is recorded
// before it begins.
func (s *Server) launch() (*process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed {
		return nil, ErrClosed
	}
	if s.mu.proc.running() {
		return nil, errRunning
	}
	s.mu.proc = startProcess(s.command(), s.files.log())
	return s.mu.proc, nil
}

func (s *Server) command() *exec.Cmd {
	cmd := exec.Command(s.distribution.Java, jvmArgs(s.config, s.distribution.ClassPath, s.files)...)
	cmd.Dir = s.files.dir // a crashing JVM leaves its report there
	return cmd
}

func (s *Server) shutdown() error {
	s.mu.Lock()
	s.mu.closed = true
	p := s.mu.proc
	s.mu.Unlock()
	var err error
	if p.running() {
		err = p.kill()
	}
	err = errors.Join(err, os.RemoveAll(s.files.dir))
	releasePorts(s.member.ports())
	return s.wrap("close", err)
}

// awaitServing waits until the run p serves. It fails if p ends, or when the
// start timeout is over.
func (s *Server) awaitServing(p *process) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	err := poll(ctx, p.done, s.checkServing)
	if err == nil {
		return nil
	}
	if !p.running() {
		err = fmt.Errorf("ended while starting: %w", p.exitError())
	}
	if s.couldNotBind() {
		err = errors.Join(errPortTaken, err)
	}
	return fmt.Errorf("%w; the server's output ends with:\n%s", err, tail(s.files.log(), 8<<10))
}

// couldNotBind reports whether the server found one of its ports taken. It
// reads the whole output, since much may follow that line.
func (s *Server) couldNotBind() bool {
	log, _ := os.ReadFile(s.files.log())
	return bytes.Contains(log, []byte("BindException")) ||
		bytes.Contains(log, []byte("Address already in use"))
}

// checkServing returns nil if this server serves. If another program has taken
// the port, this server is about to end but may still run, so checkServing also
// makes sure that the answer comes from this server.
func (s *Server) checkServing(ctx context.Context) error {
	mode, err := s.Mode(ctx)
	if err != nil {
		return err
	}
	if mode == "read-only" {
		return ErrNotServing
	}
	conf, err := s.FourLetter(ctx, "conf")
	if err != nil {
		return err
	}
	if !strings.Contains(conf, filepath.Base(s.files.dir)) {
		return fmt.Errorf("%w: another server answers", errPortTaken)
	}
	return s.checkTLS(ctx)
}

func (s *Server) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("zkserver: %s %s: %w", op, s.Addr(), err)
}
