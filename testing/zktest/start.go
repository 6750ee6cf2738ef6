package zktest

import (
	"fmt"
	"net"
	"strconv"
)

// Start returns a running server, which is closed when the test ends. An option
// that is nil or invalid fails the test. For a bubble of testing/synctest, call
// Start in the bubble: a server that was started outside of it panics in package
// sync when the server is closed.
//
// Outside a bubble, any client reaches the server at [Server.Addr]. In a bubble
// there are no ports: a client has to connect by [Server.Dialer], as clients of
// package curatortest do. Without that dialer, every attempt to connect fails with
// an error that names the dialer, and a client that retries for ever hangs the test.
func Start(tb TB, opts ...Option) *Server {
	tb.Helper()
	s, err := Run(opts...)
	if err != nil {
		tb.Fatalf("%v", err)
		return nil // Fatalf of a TB that is not a test may return
	}
	s.tb = tb
	tb.Cleanup(func() { closeAtTheEnd(tb, s.Close, s) })
	return s
}

// Run returns a running server, which the caller must close. The error names an
// option that is nil or invalid, or the reason why the server cannot listen on the
// address of [WithTCP].
func Run(opts ...Option) (*Server, error) {
	cfg, err := configured(opts)
	if err != nil {
		return nil, err
	}
	s := newServer(newCluster(cfg))
	s.alone = s
	if err := s.begin(); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("zktest: %w", err)
	}
	return s, nil
}

func (s *Server) begin() error {
	if err := s.simulateConfigured(victims{servers: []*Server{s}}); err != nil || s.cfg.tcp == "" {
		return err
	}
	return s.listen(s.cfg.tcp)
}

// Close closes all connections, and returns nil when every goroutine and timer of
// the server has ended. Methods such as [Server.Node] can still read the data. Close
// may be called more than once, but not from a function of [Call] or [CallAfter].
func (s *Server) Close() error {
	s.mu.Lock()
	s.closeLocked()
	if s.member != nil {
		s.ens.updateLocked()
	} else {
		s.stopClocksLocked()
	}
	s.unlock()
	s.wg.Wait()
	if s.member == nil {
		s.timers.Wait()
	}
	return nil
}

// closeLocked is Close without waiting.
func (s *Server) closeLocked() {
	if s.closed {
		return
	}
	s.closed = true
	s.forgetHeldLocked()
	for _, c := range s.conns.inOrder() {
		c.closeLocked()
	}
	s.reaper.stopLocked()
	if s.listener != nil {
		_ = s.listener.Close()
	}
}

// StartEnsemble returns a running ensemble of n members with a leader. The ensemble
// is closed when the test ends. The test fails if n is not positive, or if an option
// is nil or invalid. For a bubble of testing/synctest, call StartEnsemble in the
// bubble.
func StartEnsemble(tb TB, n int, opts ...Option) *Ensemble {
	tb.Helper()
	e, err := RunEnsemble(n, opts...)
	if err != nil {
		tb.Fatalf("%v", err)
		return nil // Fatalf of a TB that is not a test may return
	}
	e.tb = tb
	tb.Cleanup(func() { closeAtTheEnd(tb, e.Close, e.servers()...) })
	return e
}

// RunEnsemble is [StartEnsemble] without a test: the caller must close the ensemble.
// RunEnsemble returns the errors of [Run], and an error if n is not positive.
func RunEnsemble(n int, opts ...Option) (*Ensemble, error) {
	if n < 1 {
		return nil, fmt.Errorf("zktest: an ensemble of %d members", n)
	}
	cfg, err := configured(opts)
	if err != nil {
		return nil, err
	}
	if cfg.Tick == 0 {
		cfg.Tick = defaultTick
	}
	e := &Ensemble{cluster: newCluster(cfg)}
	e.ens = e
	for i := range n {
		e.addMember(i)
	}
	if err := e.begin(); err != nil {
		_ = e.Close()
		return nil, fmt.Errorf("zktest: %w", err)
	}
	return e, nil
}

// begin makes the members work.
func (e *Ensemble) begin() error {
	if err := e.simulateConfigured(victims{servers: e.servers(), ens: e}); err != nil {
		return err
	}
	if err := e.listen(); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.unlock()
	e.electLocked()
	return nil
}

// listen opens the ports of the members, if the ensemble has ports.
func (e *Ensemble) listen() error {
	if e.cfg.tcp == "" {
		return nil
	}
	for i, m := range e.members {
		addr, err := portAfter(e.cfg.tcp, i)
		if err != nil {
			return err
		}
		if err := m.listen(addr); err != nil {
			return err
		}
	}
	return nil
}

// addMember makes member i. Members have consecutive ports, in memory or in the
// system, unless the system chooses the ports.
func (e *Ensemble) addMember(i int) {
	m := &Member{Server: newServer(e.cluster), id: i + 1}
	m.address = memoryAddr(m.id)
	m.member, m.tree.Recording = m, true
	e.members = append(e.members, m)
}

// portAfter returns the i-th address after addr; port 0 stands for any.
func portAfter(addr string, i int) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", err
	}
	n, err := strconv.Atoi(port)
	if err != nil || n == 0 {
		return addr, nil // let net.Listen judge
	}
	return net.JoinHostPort(host, strconv.Itoa(n+i)), nil
}

// Close ends all members as [Server.Close] ends a server.
func (e *Ensemble) Close() error {
	e.mu.Lock()
	e.stopClocksLocked()
	e.election.stop()
	e.ping.stop()
	for _, m := range e.members {
		m.applying.stop()
		m.givingUp.stop()
		m.closeLocked()
	}
	e.unlock()
	for _, m := range e.members {
		m.wg.Wait()
	}
	e.timers.Wait()
	return nil
}
