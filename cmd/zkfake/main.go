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
	done         = 0
	cannotListen = 1
	badInput     = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C does not wait for the summary.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run serves until ctx ends, and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return done
	case err != nil:
		fmt.Fprintln(stderr, "zkfake:", err)
		return badInput
	}
	if err := serve(ctx, s, stdout); err != nil {
		fmt.Fprintln(stderr, "zkfake:", err)
		return cannotListen
	}
	return done
}

// serve runs the servers and their remote control until ctx ends, or until the
// remote control ends them. It returns an error if it cannot listen.
func serve(ctx context.Context, s settings, stdout io.Writer) error {
	servers, err := start(s)
	if err != nil {
		return err
	}
	defer servers.close()
	ctx, exit := context.WithCancel(ctx)
	defer exit()
	var ctl *control
	if s.control != "" {
		if ctl, err = startControl(s.control, servers, exit); err != nil {
			return err
		}
		defer ctl.close()
	}

	begin := time.Now()
	fmt.Fprintln(stdout, "listening on", servers.addr())
	if ctl != nil {
		fmt.Fprintln(stdout, "control on", ctl.url())
	}
	<-ctx.Done()
	summarize(stdout, servers, time.Since(begin))
	return nil
}
