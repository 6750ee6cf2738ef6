package zktest

import (
	"fmt"
	"net"
	"strconv"
)

// Start returns a running server that is closed when the test ends. Options
// that are nil or make no sense fail the test. In a bubble of testing/synctest,
// Start must be called in the bubble: the end of a server that was started
// outside of it panics in package sync.
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

// Run returns a running server, which the caller has to close. The error says
// which option is nil or makes no sense, or why the server cannot listen on the
// address given to [WithTCP].
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

// Close ends the server: connections are closed, and every goroutine and timer
// of the server has ended when it returns. The data stays readable through
// [Server.Node] and the like. Close may be called more than once, but not from
// a function given to [Call] or [CallAfter]. The error is always nil.
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

// StartEnsemble returns a running ensemble of n members, which has a leader and
// is closed when the test ends. An n that is not positive, and options that are
// nil or make no sense, fail the test. In a bubble of testing/synctest,
// StartEnsemble must be called in the bubble.
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

// RunEnsemble is [StartEnsemble] without a test: the caller has to close the
// ensemble. The error is [Run]'s, or says that n is not positive.
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

// begin lets the members work.
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

// listen opens the ports of the members, if they are to have any.
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

// addMember makes member i. In-memory members have consecutive made-up ports;
// so have those that listen, unless the port is to be any free one.
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
