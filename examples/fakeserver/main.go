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

	"github.com/gocurator/curator/testing/zktest"
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
	opts, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return done
	case err != nil:
		fmt.Fprintln(stderr, "fakeserver:", err)
		return badInput
	}
	srv, err := zktest.Run(opts...)
	if err != nil {
		fmt.Fprintln(stderr, "fakeserver:", err)
		return cannotListen
	}
	defer srv.Close()
	start := time.Now()
	fmt.Fprintln(stdout, "listening on", srv.Addr())
	<-ctx.Done()
	summarize(stdout, srv, time.Since(start))
	return done
}

// parse returns the options for the server, or an error if the command line is
// invalid.
func parse(args []string, stderr io.Writer) ([]zktest.Option, error) {
	fs := flag.NewFlagSet("fakeserver", flag.ContinueOnError)
	listen := fs.String("listen", "127.0.0.1:2181", "`host:port` to serve on")
	super := fs.String("super", "", "`user:password` of a user to whom no ACL applies")
	quotas := fs.Bool("quotas", false, "enforce hard limits")
	tick := fs.Duration("tick", 0, "let sessions expire only at multiples of this `duration`")
	fs.SetOutput(io.Discard) // the caller prints errors
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(stderr, "Usage: fakeserver [flags]")
			fmt.Fprintln(stderr, "Serves an in-memory ZooKeeper until it is interrupted.")
			fs.SetOutput(stderr)
			fs.PrintDefaults()
		}
		return nil, err
	}
	switch {
	case fs.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	case *tick < 0:
		return nil, fmt.Errorf("-tick %v: must not be negative", *tick)
	}
	opts := []zktest.Option{
		zktest.WithTCP(*listen),
		zktest.WithTick(*tick),
		zktest.WithSuperUser(*super),
		// Keeps no log: the program may run for long, and nothing reads it.
		zktest.WithRequestLog(0),
	}
	if *quotas {
		opts = append(opts, zktest.WithEnforcedQuotas())
	}
	return opts, nil
}
