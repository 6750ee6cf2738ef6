package main

import (
	"context"
	"fmt"
	"sync"
)

// shop is the parent of the workers. It gives them their orders, lets all of
// them begin at once, collects the answers and replaces workers that die. The
// goroutine of run owns its fields.
type shop struct {
	cfg     config
	servers string
	root    string

	events  chan event
	running map[*process]bool
	begun   bool // workers need not wait any more
	// The worker to be killed; nil if none is, or after its end.
	victim *process

	results []result
	killed  *process // nil if no worker was killed

	startProcess func(j job, nth int) error // starts a process; set by run
}

// result is an answer and its source.
type result struct {
	order
	answer
	nth int // the count of the worker's processes; 2 replaces the first
}

// maxProcesses bounds how often a worker is replaced.
const maxProcesses = 5

// run returns when every order is answered, or with an error if that is
// impossible. In either case no process is left.
func (s *shop) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var listeners sync.WaitGroup
	defer listeners.Wait()
	defer cancel()

	s.events = make(chan event)
	s.running = map[*process]bool{}
	s.startProcess = func(j job, nth int) error {
		p, err := launch(ctx, j, nth)
		if err != nil {
			return err
		}
		s.running[p] = true
		if j.Crash != "" {
			s.victim = p
		}
		listeners.Go(func() {
			p.listen(func(e event) {
				select {
				case s.events <- e:
				case <-ctx.Done(): // run has returned or is about to
				}
			})
		})
		p.send(j)
		return nil
	}
	for i, name := range workerNames(s.cfg.orders) {
		j := s.job(name)
		if i == 0 {
			j.Crash = s.cfg.crash
		}
		if err := s.startProcess(j, 1); err != nil {
			return err
		}
	}
	return s.loop(ctx)
}

func (s *shop) job(worker string) job {
	j := job{
		Worker: worker, Servers: s.servers, Root: s.root,
		Unsafe: s.cfg.unsafe, SessionTimeout: s.cfg.sessionTimeout, Think: s.cfg.think,
	}
	for _, o := range s.cfg.orders {
		if o.Worker == worker {
			j.Orders = append(j.Orders, o)
		}
	}
	return j
}

// loop handles events until no process is left.
func (s *shop) loop(ctx context.Context) error {
	for len(s.running) > 0 {
		select {
		case e := <-s.events:
			if err := s.handle(e); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (s *shop) handle(e event) error {
	p := e.from
	if e.ended {
		delete(s.running, p)
		return s.ended(p)
	}
	switch e.Kind {
	case ready:
		p.ready = true
		s.begin(p)
	case standing:
		s.killVictim(p)
	case answered:
		if o, open := p.answered(e.Answer.Order); open {
			s.results = append(s.results, result{o, e.Answer, p.nth})
		}
	case finished:
		p.finished = true
	case failed:
		return fmt.Errorf("worker %s: %s", p.job.Worker, e.Error)
	}
	return nil
}

// begin starts a worker that is ready, or all workers if this was the last one
// to be ready. A victim starts first and alone, so that it holds the lock that
// the others want.
func (s *shop) begin(p *process) {
	switch {
	case s.begun:
		p.send(start{})
	case !s.allReady():
	case s.victim != nil:
		s.victim.send(start{})
	default:
		s.beginAll()
	}
}

func (s *shop) allReady() bool {
	for p := range s.running {
		if !p.ready {
			return false
		}
	}
	return true
}

// beginAll starts every worker that has not started.
func (s *shop) beginAll() {
	s.begun = true
	for p := range s.running {
		if p != s.victim {
			p.send(start{})
		}
	}
}

// killVictim kills the victim, which has stopped while it holds the lock.
func (s *shop) killVictim(p *process) {
	s.beginAll()
	p.kill()
	s.killed = p
}

// ended gives the orders of a process that has ended too early to another
// process.
func (s *shop) ended(p *process) error {
	if p == s.victim {
		s.victim = nil
		if !s.begun && s.allReady() { // the victim has not come to its moment
			s.beginAll()
		}
	}
	if code := p.cmd.ProcessState.ExitCode(); p.finished && code > 0 {
		return fmt.Errorf("worker %s: exit status %d", p.job.Worker, code)
	}
	if p.finished || len(p.open) == 0 {
		return nil
	}
	if p.nth == maxProcesses {
		return fmt.Errorf("worker %s: process %d died with %d orders open", p.job.Worker, p.nth, len(p.open))
	}
	j := p.job
	j.Orders, j.Crash = p.open, ""
	return s.startProcess(j, p.nth+1)
}
