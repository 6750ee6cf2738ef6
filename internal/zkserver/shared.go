package zkserver

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
)

// Shared returns a standalone server that all tests of the program share. The
// first call starts it, later calls with equal options return the same server,
// and different options make different servers. Like [Start], Shared skips or
// fails the test if there is no server.
//
// Tests may use the server at the same time, and their nodes are never removed. Each
// test needs its own path, and a new one for each run with -count.
//
// A test must not stop or pause the server, or change its configuration, while
// other tests use it: see [Borrow]. If an earlier test has left the server down
// or paused, Shared brings it back first.
//
// The program must call [CloseShared] after the last test.
func Shared(tb TB, opts ...Option) *Server {
	tb.Helper()
	return sharing.shared(tb, opts).servers[0]
}

// Borrow returns a standalone server that this test has for itself. When the
// test is over, a later test with equal options may get the same server, which
// saves a start. A new server is started if no such server is free. Like
// [Start], Borrow skips or fails the test if there is no server.
//
// The test may stop, kill, pause and wipe the server, and need not bring it back: the
// next test gets a server that serves. Nodes of earlier tests may exist, so each test
// needs its own path, and a new one for each run with -count. A test that changes the
// configuration, such as the members of an ensemble, must use Start.
//
// The program must call [CloseShared] after the last test.
func Borrow(tb TB, opts ...Option) *Server {
	tb.Helper()
	return sharing.borrow(tb, 0, opts).servers[0]
}

// BorrowEnsemble is [Borrow] for an ensemble of n servers. The test may also
// cut servers off from one another, if the options include [WithLinks].
func BorrowEnsemble(tb TB, n int, opts ...Option) *Ensemble {
	tb.Helper()
	return sharing.borrow(tb, n, opts)
}

// CloseShared closes all servers that [Shared], [Borrow] and [BorrowEnsemble]
// have started. Call it in TestMain after the last test. Without it
// the servers live until the program ends, and their directories stay.
//
//	func TestMain(m *testing.M) {
//		code := m.Run()
//		if err := zkserver.CloseShared(); err != nil && code == 0 {
//			fmt.Fprintln(os.Stderr, err)
//			code = 1
//		}
//		os.Exit(code)
//	}
func CloseShared() error { return sharing.close() }

var sharing pool

// pool holds servers that tests share. Its keys consist of the size and the options of
// an ensemble.
type pool struct {
	mu     sync.Mutex
	forAll map[string]*sharedEnsemble
	idle   map[string][]*Ensemble // returned by their borrowers
	all    []*Ensemble            // what close closes
}

// sharedEnsemble is started once. The mutex is held while it starts or comes
// back, so that tests which begin meanwhile wait for it.
type sharedEnsemble struct {
	mu       sync.Mutex
	ensemble *Ensemble // nil until a start has succeeded
}

// shared returns the standalone server that all tests share.
func (p *pool) shared(tb TB, opts []Option) *Ensemble {
	tb.Helper()
	key, err := keyOf(0, opts)
	check(tb, err)
	s := p.sharedFor(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ensemble != nil {
		if s.ensemble.bringBack() == nil {
			return s.ensemble
		}
		p.discard(s.ensemble)
		s.ensemble = nil
	}
	e, err := p.start(0, opts)
	check(tb, err)
	s.ensemble = e
	return e
}

func (p *pool) sharedFor(key string) *sharedEnsemble {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.forAll[key] == nil {
		if p.forAll == nil {
			p.forAll = make(map[string]*sharedEnsemble)
		}
		p.forAll[key] = new(sharedEnsemble)
	}
	return p.forAll[key]
}

// borrow returns an idle ensemble, or starts one. The size is 0 for a standalone
// server. borrow closes an idle ensemble that cannot be brought back, because a test
// has closed it or its port is taken.
func (p *pool) borrow(tb TB, size int, opts []Option) *Ensemble {
	tb.Helper()
	key, err := keyOf(size, opts)
	check(tb, err)
	e := p.takeIdle(key)
	if e != nil && e.bringBack() != nil {
		p.discard(e)
		e = nil
	}
	if e == nil {
		e, err = p.start(size, opts)
		check(tb, err)
	}
	tb.Cleanup(func() { p.giveBack(key, e) })
	return e
}

func (p *pool) takeIdle(key string) *Ensemble {
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := p.idle[key]
	if len(idle) == 0 {
		return nil
	}
	last := len(idle) - 1
	p.idle[key] = idle[:last]
	return idle[last]
}

// discard closes an ensemble that cannot be brought back.
func (p *pool) discard(e *Ensemble) {
	p.mu.Lock()
	p.all = slices.DeleteFunc(p.all, func(o *Ensemble) bool { return o == e })
	p.mu.Unlock()
	_ = e.Close() // it may be closed already
}

// giveBack makes an ensemble idle, unless close has closed it.
func (p *pool) giveBack(key string, e *Ensemble) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.all, e) {
		return
	}
	if p.idle == nil {
		p.idle = make(map[string][]*Ensemble)
	}
	p.idle[key] = append(p.idle[key], e)
}

// start starts an ensemble, which the method close will close.
func (p *pool) start(size int, opts []Option) (*Ensemble, error) {
	e, err := run(opts, size, newMembers)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, e)
	return e, nil
}

func (p *pool) close() error {
	p.mu.Lock()
	all := p.all
	p.all, p.forAll, p.idle = nil, nil, nil
	p.mu.Unlock()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, e := range all {
		wg.Go(func() { errs[i] = e.Close() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// keyOf returns the size and the options as text, with the variables that say
// where ZooKeeper is. It is equal for options with equal effect.
func keyOf(size int, opts []Option) (string, error) {
	c := readOptions(opts)
	if len(c.sequences) > 0 {
		// The second test would find a sequence that the first one has used.
		return "", errors.New("zkserver: WithSequence needs a separate server: use Start or StartEnsemble")
	}
	distribution := ""
	for _, name := range []string{envHome, envMaven, envJava} {
		distribution += " " + os.Getenv(name)
	}
	auth := "none"
	if c.tlsAuth != nil {
		auth = c.tlsAuth.String()
		c.tlsAuth = nil
	}
	return fmt.Sprintf("%d %s %s %#v", size, auth, distribution, c), nil
}

// bringBack undoes what a test may have done to the ensemble: all servers serve
// when it returns.
func (e *Ensemble) bringBack() error {
	if e.links != nil {
		if err := e.Heal(); err != nil {
			return err
		}
	}
	return each(e.servers, (*Server).bringBack)
}

// bringBack resumes a paused server, starts one that is down, and waits until
// it serves.
func (s *Server) bringBack() error {
	p := s.process()
	if !p.running() {
		return s.start("restart")
	}
	// On systems that cannot pause a server, there is none to resume.
	if err := p.resume(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return s.wrap("resume", err)
	}
	return s.wrap("resume", s.awaitServing(p))
}
