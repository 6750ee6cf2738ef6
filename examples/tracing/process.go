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

// serviceCommand makes the program a service. It is for the parent alone.
const serviceCommand = "service"

func isService(args []string) bool { return len(args) == 5 && args[1] == serviceCommand }

// serviceMain is the program of a service process. It prints its address, and serves until its input ends: when the
// parent says so by closing it, or is gone.
func serviceMain(args []string) (status int) {
	signal.Ignore(os.Interrupt) // Ctrl-C reaches the whole process group, and the parent decides
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

// launch starts a service and returns when it can be asked. It is killed when ctx ends, and must be ended in any case.
// It sends its spans to the collector.
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

// withoutTelemetry leaves out what the environment says of exporters and samplers: that is for the collector of the
// user, which gets the spans from the parent.
func withoutTelemetry(env []string) []string {
	var kept []string
	for _, e := range env {
		if !strings.HasPrefix(e, "OTEL_") || strings.HasPrefix(e, "OTEL_RESOURCE_ATTRIBUTES=") {
			kept = append(kept, e)
		}
	}
	return kept
}

// end makes the service end, and returns when it has: all its spans have been sent then.
func (p *process) end() error {
	p.stdin.Close()
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}
