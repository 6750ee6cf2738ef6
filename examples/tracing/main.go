package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/gocurator/curator/framework"
)

// Exit statuses.
const (
	done     = 0
	failed   = 1
	badInput = 2
)

func main() {
	if isService(os.Args) {
		os.Exit(serviceMain(os.Args[2:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C does not wait for the clean-up.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the parent process and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cfg, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return done
	case err != nil:
		fmt.Fprintln(stderr, "tracing:", err)
		return badInput
	}
	if err := show(ctx, cfg, stdout); err != nil {
		fmt.Fprintln(stderr, "tracing:", err)
		if errors.As(err, new(*framework.ConfigError)) {
			return badInput
		}
		return failed
	}
	return done
}

// show runs the story, and prints, draws and forwards its traces as configured.
func show(ctx context.Context, cfg config, stdout io.Writer) error {
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.timeout, errTimeout)
	defer cancel()
	spans := &collector{}
	if err := runStory(ctx, cfg, spans); err != nil {
		if errors.Is(context.Cause(ctx), errTimeout) {
			return errTimeout
		}
		return err
	}
	traces := tracesOf(spans.all())
	printTraces(stdout, traces)
	if cfg.svg != "" {
		if err := os.WriteFile(cfg.svg, draw(traces), 0o666); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "\ndrawn in %s\n", cfg.svg)
	}
	if cfg.forward != "" {
		if err := spans.forward(ctx); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "\nsent to %s\n", cfg.forward)
	}
	return nil
}

var errTimeout = errors.New("not done in time")
