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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C does not wait for the clean-up.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the program and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cfg, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return done
	case err != nil:
		fmt.Fprintln(stderr, "herd:", err)
		return badInput
	}
	costs, err := measureAll(ctx, cfg)
	if err != nil {
		fmt.Fprintln(stderr, "herd:", err)
		if errors.As(err, new(*framework.ConfigError)) {
			return badInput
		}
		return failed
	}
	report(stdout, costs)
	return done
}

var errTimeout = errors.New("not done in time")

// measureAll measures each design with each number of waiters.
func measureAll(ctx context.Context, cfg config) ([]cost, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.timeout, errTimeout)
	defer cancel()
	var costs []cost
	for _, d := range designs {
		for _, waiters := range cfg.waiters {
			c, err := measure(ctx, cfg, d, waiters)
			if err != nil {
				return nil, fmt.Errorf("%s, %d waiters: %w", d.name, waiters, err)
			}
			costs = append(costs, c)
		}
	}
	return costs, nil
}
