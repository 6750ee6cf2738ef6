package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"sync"
	"time"

	"github.com/gocurator/curator/testing/zktest"
)

// story is the parent process: it prints what happens, and kills workers. One
// goroutine owns it.
type story struct {
	cfg    config
	out    io.Writer
	job    job // what all workers are told
	begun  time.Time
	events chan heartbeat
	ended  chan *process

	workers  map[string]*process // the keys are names
	watchers sync.WaitGroup      // wait for the ends of workers

	token    int64 // the token of the present leadership
	beats    int   // heartbeats in the present leadership
	terms    int   // leaderships so far
	kills    int   // leaders killed so far
	victim   *process
	killedAt time.Time
	leaders  map[int64]string // the leader of each token
	wrong    []string
}

var (
	names      = []string{"berlin", "oslo", "rome"}
	errTimeout = errors.New("not done in time")
)

// beatsEach is the number of heartbeats that a leader writes before it is
// killed.
const beatsEach = 3

// runStory starts the servers that the story needs and runs the story. It
// leaves no process behind. On the ensemble it leaves only containers, which
// the servers remove when they are empty.
func runStory(ctx context.Context, cfg config, stdout io.Writer) error {
	if !cfg.stay {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, cfg.timeout, errTimeout)
		defer cancel()
	}
	servers, where := cfg.servers, cfg.servers
	if servers == "" {
		srv, err := zktest.Run(zktest.WithTCP("127.0.0.1:0"))
		if err != nil {
			return err
		}
		defer srv.Close()
		servers, where = srv.Addr(), "an embedded server, "+srv.Addr()
	}
	events := make(chan heartbeat)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := http.Server{Handler: &journal{entries: events}, ReadHeaderTimeout: time.Second}
	go server.Serve(listener)
	defer server.Close()

	s := &story{
		cfg:     cfg,
		out:     stdout,
		events:  events,
		begun:   time.Now(),
		ended:   make(chan *process),
		workers: map[string]*process{},
		leaders: map[int64]string{},
		job: job{
			Servers: servers, Journal: "http://" + listener.Addr().String(),
			// Separates this run from all others on the same servers.
			Path:           path.Join("/leader", rand.Text()),
			SessionTimeout: cfg.sessionTimeout, Every: cfg.every,
		},
	}
	fmt.Fprintf(stdout, "Servers: %s.\n", where)
	fmt.Fprintf(stdout, "%d workers elect a leader in %s.\n", len(names), s.job.Path)
	fmt.Fprint(stdout, "Only the leader writes heartbeats.\n\n")
	return s.run(ctx)
}

func (s *story) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer s.watchers.Wait()
	defer cancel()
	defer s.stopAll()
	for _, name := range names {
		if err := s.start(ctx, name, "is started"); err != nil {
			return err
		}
	}
	for !s.over() {
		select {
		case h := <-s.events:
			s.hear(ctx, h)
		case p := <-s.ended:
			if err := s.replace(ctx, p); err != nil {
				return err
			}
		case <-ctx.Done():
			if s.cfg.stay {
				return nil
			}
			return context.Cause(ctx)
		}
	}
	return s.sumUp()
}

// over reports whether the story is complete.
func (s *story) over() bool {
	return !s.cfg.stay && s.kills == s.cfg.kills && s.victim == nil && s.beats >= beatsEach
}

func (s *story) say(format string, args ...any) {
	fmt.Fprintf(s.out, "%7.3fs  %s\n", time.Since(s.begun).Seconds(), fmt.Sprintf(format, args...))
}

// start starts a worker. The goroutine of run receives its end.
func (s *story) start(ctx context.Context, name, how string) error {
	j := s.job
	j.Name = name
	p, err := launch(j)
	if err != nil {
		return err
	}
	s.workers[name] = p
	s.say("%-6s  %s: process %d, %s/leader", name, how, p.pid(), p.health)
	s.watchers.Go(func() {
		<-p.ended
		select {
		case s.ended <- p:
		case <-ctx.Done():
		}
	})
	return nil
}

// ask prints the leader that the HTTP endpoint of some worker names.
func (s *story) ask(ctx context.Context) {
	for _, name := range names {
		p := s.workers[name]
		if p == s.victim {
			continue
		}
		answer, err := p.askLeader(ctx)
		if err != nil {
			answer = err.Error()
		}
		s.say("%-6s  says: %s", name, answer)
		return
	}
}

// hear records a heartbeat that the journal has accepted.
func (s *story) hear(ctx context.Context, h heartbeat) {
	if h.Token != s.token {
		s.token, s.beats = h.Token, 0
		s.terms++
		after := ""
		if s.victim != nil {
			after = fmt.Sprintf(", %v after the signal", time.Since(s.killedAt).Round(time.Millisecond))
			s.victim = nil
		}
		s.say("%-6s  LEADS with fencing token %d%s", h.Worker, h.Token, after)
	}
	if other := s.leaders[h.Token]; other != "" && other != h.Worker {
		s.wrong = append(s.wrong, fmt.Sprintf("%s and %s both lead with token %d", other, h.Worker, h.Token))
	}
	s.leaders[h.Token] = h.Worker
	s.beats++
	s.say("%-6s  heartbeat %d", h.Worker, h.Number)
	if s.beats == 2 {
		s.ask(ctx)
	}
	if !s.cfg.stay && s.beats == beatsEach && s.kills < s.cfg.kills {
		s.kill(s.workers[h.Worker])
	}
}

// kill ends the leader: the last one with SIGTERM, the others with SIGKILL.
func (s *story) kill(p *process) {
	s.kills++
	s.victim, s.killedAt = p, time.Now()
	if s.kills == s.cfg.kills {
		s.say("%-6s  is stopped by SIGTERM: it hands over at once", p.name)
		p.terminate()
		return
	}
	s.say("%-6s  is killed by SIGKILL: the others wait until its session times out", p.name)
	p.kill()
}

// replace starts a worker again after it was killed or asked to stop.
func (s *story) replace(ctx context.Context, p *process) error {
	if p.cmd.ProcessState.ExitCode() == failed {
		return fmt.Errorf("%s has failed", p.name)
	}
	s.say("%-6s  has ended: %v", p.name, p.cmd.ProcessState)
	return s.start(ctx, p.name, "is started again")
}

// sumUp prints the result. The journal has refused every write with an old
// token.
func (s *story) sumUp() error {
	if len(s.wrong) > 0 {
		return errors.New(s.wrong[0])
	}
	fmt.Fprintf(s.out, "\n%d leaderships, each with a larger fencing token than the one before.\n", s.terms)
	fmt.Fprintln(s.out, "One worker led at a time.")
	return nil
}

// stopAll stops all workers and waits until they have ended.
func (s *story) stopAll() {
	for _, p := range s.workers {
		p.terminate()
	}
	for _, p := range s.workers {
		p.stop()
	}
}
