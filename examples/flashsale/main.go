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
	asExpected = 0
	unexpected = 1
	badInput   = 2
)

func main() {
	if isWorker(os.Args) {
		os.Exit(workerMain())
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
		fmt.Fprintln(stderr, "flashsale:", err)
		return badInput
	}
	sale, err := runSale(ctx, cfg, stdout)
	if err != nil {
		fmt.Fprintln(stderr, "flashsale:", err)
		if errors.As(err, new(*framework.ConfigError)) {
			return badInput
		}
		return unexpected
	}
	sale.print(stdout)
	if !sale.asExpected() {
		return unexpected
	}
	return asExpected
}
