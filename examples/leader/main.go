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
)

// Exit statuses.
const (
	asExpected = 0
	failed     = 1
	badInput   = 2
)

func main() {
	if isWorker(os.Args) {
		os.Exit(workerMain(os.Args))
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
		return asExpected
	case err != nil:
		fmt.Fprintln(stderr, "leader:", err)
		return badInput
	}
	if err := runStory(ctx, cfg, stdout); err != nil {
		fmt.Fprintln(stderr, "leader:", err)
		return failed
	}
	return asExpected
}
