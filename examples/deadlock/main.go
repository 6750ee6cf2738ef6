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
	"time"
)

// Exit statuses.
const (
	asExpected = 0
	failed     = 1
	badInput   = 2
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
		return asExpected
	case err != nil:
		fmt.Fprintln(stderr, "deadlock:", err)
		return badInput
	}
	if err := runStory(ctx, cfg, stdout); err != nil {
		fmt.Fprintln(stderr, "deadlock:", err)
		return failed
	}
	return asExpected
}

// config is the parsed command line.
type config struct {
	servers string // empty: an embedded server
	stay    bool
	timeout time.Duration
}

// parse returns the configuration, or an error if the command line is invalid.
func parse(args []string, stderr io.Writer) (config, error) {
	var cfg config
	fs := flag.NewFlagSet("deadlock", flag.ContinueOnError)
	fs.StringVar(&cfg.servers, "servers", "", "`host:port,...` of a real ensemble (default: an embedded server)")
	fs.BoolVar(&cfg.stay, "stay", false, "leave the services in the deadlock, until Ctrl-C")
	fs.DurationVar(&cfg.timeout, "timeout", time.Minute, "without -stay: give up after this time")
	fs.SetOutput(io.Discard) // the caller prints errors
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(stderr, "Usage: deadlock [flags]")
			fmt.Fprintln(stderr, "Two services lock in opposite order, and the deadlock is found.")
			fs.SetOutput(stderr)
			fs.PrintDefaults()
		}
		return config{}, err
	}
	switch {
	case fs.NArg() > 0:
		return config{}, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	case cfg.timeout <= 0:
		return config{}, fmt.Errorf("-timeout %v: must be positive", cfg.timeout)
	}
	return cfg, nil
}
