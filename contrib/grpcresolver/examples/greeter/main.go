// Greeter is two services: web finds the instances of greeter in ZooKeeper and calls
// them over gRPC. Meanwhile, one instance drains, another starts, and another is
// killed. No call fails.
//
//	go run ./contrib/grpcresolver/examples/greeter
//
// Copy greeter.go, which registers an instance, and web.go, which calls instances.
//
// The exit status is 0 if all went as described, and 1 if not.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "greeter:", err)
		os.Exit(1)
	}
}

// run tells the story. Each service has its own client, as if it were a process.
func run(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	srv, err := zktest.Run(zktest.WithTCP("127.0.0.1:0"))
	if err != nil {
		return err
	}
	defer srv.Close()
	client, err := framework.Connect(ctx, srv.Addr())
	if err != nil {
		return err
	}
	defer client.Close()
	web, err := newWeb(client)
	if err != nil {
		return err
	}
	defer web.close()
	s := &story{servers: srv.Addr(), web: web, out: out, running: map[string]*greeter{}}
	defer s.close()
	return s.tell(ctx)
}

type story struct {
	servers string
	web     *web
	out     io.Writer
	running map[string]*greeter
}

func (s *story) close() {
	for _, g := range s.running {
		g.kill()
	}
}

func (s *story) tell(ctx context.Context) error {
	fmt.Fprintln(s.out, "No greeter is registered yet.")
	fmt.Fprintln(s.out, "  web is told:", s.web.call(ctx))
	for _, step := range []struct {
		what string
		do   func() error
		want []string
	}{
		{"oslo and paris start.", func() error { return s.start(ctx, "oslo", "paris") }, []string{"oslo", "paris"}},
		{"paris drains.", func() error { return s.running["paris"].instance.Drain(ctx) }, []string{"oslo"}},
		{"rome starts.", func() error { return s.start(ctx, "rome") }, []string{"oslo", "rome"}},
		{"oslo is killed.", func() error { s.running["oslo"].kill(); return nil }, []string{"rome"}},
	} {
		fmt.Fprintln(s.out, step.what)
		if err := step.do(); err != nil {
			return err
		}
		if err := s.await(ctx, step.want); err != nil {
			return err
		}
	}
	fmt.Fprintln(s.out, "No call has failed.")
	return nil
}

func (s *story) start(ctx context.Context, names ...string) error {
	for _, name := range names {
		g, err := newGreeter(ctx, s.servers, name)
		if err != nil {
			return err
		}
		s.running[name] = g
	}
	return nil
}

// await makes calls until several calls in a row were answered by exactly the wanted
// instances.
func (s *story) await(ctx context.Context, want []string) error {
	const row = 20
	var answers []string
	for {
		answer, err := s.web.greet(ctx)
		if err != nil {
			return fmt.Errorf("a call has failed: %w", err)
		}
		answers = append(answers, answer)
		if len(answers) < row {
			continue
		}
		answers = answers[len(answers)-row:]
		seen := slices.Compact(slices.Sorted(slices.Values(answers)))
		if slices.Equal(seen, want) {
			fmt.Fprintln(s.out, "  web is greeted by:", strings.Join(seen, ", "))
			return nil
		}
	}
}
