package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"
)

// serviceCommand turns the program into a service. Only the parent uses it.
const serviceCommand = "service"

func isService(args []string) bool { return len(args) == 5 && args[1] == serviceCommand }

// serviceMain runs a service process. It prints its address and serves until
// its input ends, because the parent has closed it or has ended.
func serviceMain(args []string) (status int) {
	// Ctrl-C reaches the whole process group; the parent decides.
	signal.Ignore(os.Interrupt)
	name, servers, hold := args[0], args[1], args[2]
	err := runService(context.Background(), name, servers, func(s *service) error {
		switch name {
		case "orders":
			return serve(orders{s}.handler())
		case "stock":
			counting, err := time.ParseDuration(hold)
			if err != nil {
				return err
			}
			return serve(stock{s, counting}.handler())
		default:
			return errors.New("no such service")
		}
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return failed
	}
	return done
}

func serve(handler http.Handler) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	fmt.Printf("http://%s\n", listener.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := server.Shutdown(context.Background()); err != nil {
		return err
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// process is a service process as its parent sees it.
type process struct {
	name  string
	url   string
	cmd   *exec.Cmd
	stdin io.Closer
}

// launch starts a service and waits until it prints its address. The service
// sends its spans to the collector. It is killed when ctx ends. The caller must
// call end in any case.
func launch(ctx context.Context, cfg config, name, servers, collector string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, serviceCommand, name, servers, cfg.hold.String())
	cmd.Env = append(withoutTelemetry(os.Environ()), "OTEL_EXPORTER_OTLP_ENDPOINT="+collector)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{name: name, cmd: cmd, stdin: stdin}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s has not started: %w", name, err), p.end())
	}
	p.url = strings.TrimSpace(line)
	return p, nil
}

// withoutTelemetry removes the variables for exporters and samplers from an
// environment. They are meant for the user's collector, which gets the spans
// from the parent.
func withoutTelemetry(env []string) []string {
	var kept []string
	for _, e := range env {
		if !strings.HasPrefix(e, "OTEL_") || strings.HasPrefix(e, "OTEL_RESOURCE_ATTRIBUTES=") {
			kept = append(kept, e)
		}
	}
	return kept
}

// end ends the service and waits for its end. All of its spans have been sent
// by then.
func (p *process) end() error {
	p.stdin.Close()
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}
