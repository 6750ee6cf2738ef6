package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/testing/zktest"
)

const root = "/deadlock"

// story is one run of the program.
type story struct {
	out             io.Writer
	servers         string
	orders, billing *service
	observer        *framework.Client
}

// runStory connects, and tells the story. Without -stay it ends by itself.
func runStory(ctx context.Context, cfg config, out io.Writer) error {
	if !cfg.stay {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, cfg.timeout, errTimeout)
		defer cancel()
	}
	s := &story{out: out, servers: cfg.servers}
	if s.servers == "" {
		srv, err := zktest.Run(zktest.WithTCP("127.0.0.1:0"))
		if err != nil {
			return err
		}
		defer srv.Close()
		s.servers = srv.Addr()
	}
	clients := map[string]*framework.Client{}
	for _, name := range []string{"orders", "billing", "observer"} {
		c, err := framework.Connect(ctx, s.servers, framework.WithServiceName(name))
		if err != nil {
			return errors.Join(context.Cause(ctx), err)
		}
		defer c.Close()
		clients[name] = c
	}
	s.orders = &service{"orders", clients["orders"], []string{stock, accounts}}
	s.billing = &service{"billing", clients["billing"], []string{accounts, stock}}
	s.observer = clients["observer"]
	return s.tell(ctx, cfg.stay)
}

var errTimeout = errors.New("timeout")

// tell has the services run into the deadlock, finds it, and ends it.
func (s *story) tell(ctx context.Context, stay bool) error {
	for _, svc := range []*service{s.orders, s.billing} {
		fmt.Fprintf(s.out, "%s locks %s and then %s\n", svc.name, svc.order[0], svc.order[1])
	}
	if _, err := s.observer.Create(ctx, root, nil, framework.WithIdempotence()); err != nil {
		return err
	}
	services, end := context.WithCancel(ctx)
	defer end()
	impatient, giveUp := context.WithCancel(services)
	defer giveUp()
	ordersDone, billingDone := s.begin(services, impatient)

	d, err := findDeadlock(ctx, s.observer)
	if err != nil {
		giveUp()
		return errors.Join(err, <-billingDone, <-ordersDone)
	}
	s.report(d)
	if stay {
		fmt.Fprintf(s.out, "\nTry: go run ./cmd/zklock -S %s graph -r %s\nCtrl-C ends the deadlock.\n", s.servers, root)
		err := endOf(ordersDone, billingDone, end)
		if ctx.Err() != nil { // Ctrl-C
			return nil
		}
		return err
	}

	fmt.Fprintln(s.out, "\nbilling gives up")
	giveUp()
	if err := <-billingDone; !errors.Is(err, context.Canceled) {
		return fmt.Errorf("billing did not give up: %w", err)
	}
	if err := <-ordersDone; err != nil {
		return err
	}
	fmt.Fprintln(s.out, "orders has both locks, and releases them")
	return s.cure(ctx)
}

// errNoDeadlock means that both services went on without an interrupt: somebody
// else has ended the deadlock.
var errNoDeadlock = errors.New("the deadlock has ended")

// endOf waits until both services have ended, and returns why. It calls giveUp
// when the first one has failed, so that the other one does not wait on.
func endOf(ordersDone, billingDone <-chan error, giveUp func()) error {
	reason := errNoDeadlock
	for range 2 {
		var name string
		var err error
		select {
		case err = <-ordersDone:
			name = "orders"
		case err = <-billingDone:
			name = "billing"
		}
		if err != nil && errors.Is(reason, errNoDeadlock) {
			reason = fmt.Errorf("%s has failed: %w", name, err)
			giveUp()
		}
	}
	return reason
}

// begin starts both services. Both have their first lock before either waits for
// its second.
func (s *story) begin(orders, billing context.Context) (ordersDone, billingDone <-chan error) {
	var both sync.WaitGroup
	both.Add(2)
	start := func(ctx context.Context, svc *service) <-chan error {
		done := make(chan error, 1)
		go func() {
			var once sync.Once
			defer once.Do(both.Done) // if it has failed
			done <- svc.lockOneByOne(ctx, func() {
				once.Do(both.Done)
				both.Wait()
			})
		}()
		return done
	}
	return start(orders, s.orders), start(billing, s.billing)
}

// report says what was found.
func (s *story) report(d inspect.Deadlock) {
	fmt.Fprintf(s.out, "\nDEADLOCK of %d processes\n", len(d.Processes))
	for i, part := range d.Cycle {
		fmt.Fprintf(s.out, "  %s waits for %s %s, which %s holds\n",
			d.Processes[i], part.Kind, part.Path, d.Processes[(i+1)%len(d.Processes)])
	}
}

// cure has both services take their locks in one order, many times at once.
func (s *story) cure(ctx context.Context) error {
	const rounds = 50
	begin := time.Now()
	done := make(chan error)
	for _, svc := range []*service{s.orders, s.billing} {
		go func() {
			var err error
			for i := 0; i < rounds && err == nil; i++ {
				err = svc.lockInOrder(ctx)
			}
			done <- err
		}()
	}
	if err := errors.Join(<-done, <-done); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "\nIn one order, with SortedMutexes: each service locked both %d times, in %v\n",
		rounds, time.Since(begin).Round(time.Millisecond))
	return nil
}
