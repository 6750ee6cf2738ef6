package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"time"
)

// config is the parsed command line and input.
type config struct {
	servers        string // empty: an embedded server
	keep           bool
	unsafe         bool
	crash          moment // empty: no worker is killed
	sessionTimeout time.Duration
	think          time.Duration
	timeout        time.Duration

	stock  []article
	orders []order
}

// With the lock, the pause only costs time. Without it, all workers must have
// read before the first one writes.
const (
	safeThink   = 5 * time.Millisecond
	unsafeThink = 250 * time.Millisecond
)

// parse returns the configuration, or an error if the command line is invalid. It
// starts nothing.
func parse(args []string, stderr io.Writer) (config, error) {
	cfg := config{stock: storyStock, orders: storyOrders}
	fs := flag.NewFlagSet("flashsale", flag.ContinueOnError)
	fs.StringVar(&cfg.servers, "servers", "",
		"`host:port,...` of a real ensemble (default: an embedded server)")
	fs.BoolVar(&cfg.keep, "keep", false, "with -servers: do not delete the nodes of this run")
	fs.BoolVar(&cfg.unsafe, "unsafe", false, "sell without the lock")
	fs.Func("crash", "kill the holder of the lock at this `moment`: before-write or after-write", cfg.crash.set)
	fs.DurationVar(&cfg.sessionTimeout, "session-timeout", 2*time.Second,
		"how long a dead worker keeps its lock")
	fs.DurationVar(&cfg.think, "think", safeThink,
		"pause between reading and writing; "+unsafeThink.String()+" with -unsafe")
	fs.DurationVar(&cfg.timeout, "timeout", time.Minute, "give up after this time")
	fs.SetOutput(io.Discard) // the caller prints errors
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			usage(fs, stderr)
		}
		return config{}, err
	}
	if cfg.unsafe && !isSet(fs, "think") {
		cfg.think = unsafeThink
	}
	return cfg, cfg.validate(fs.Args())
}

func usage(fs *flag.FlagSet, stderr io.Writer) {
	fmt.Fprintln(stderr, "Usage: flashsale [flags]")
	fmt.Fprintln(stderr, "Sells a stock to orders that reach several processes at once.")
	fs.SetOutput(stderr)
	fs.PrintDefaults()
}

func isSet(fs *flag.FlagSet, name string) (found bool) {
	fs.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

func (c *config) validate(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q", rest[0])
	case c.unsafe && c.crash != "":
		return errors.New("-crash kills the holder of the lock; with -unsafe there is none")
	case c.think < 0 || c.timeout <= 0:
		return errors.New("-think must not be negative and -timeout must be positive")
	}
	return nil
}
