package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// config is the parsed command line.
type config struct {
	servers  string // empty: an embedded server
	waiters  []int
	releases int
	timeout  time.Duration
}

const maxWaiters = 1000

// Each waiter is a separate client. ZooKeeper as it is installed takes 60
// connections from one address.
const (
	defaultWaiters = "2,20,200"
	fewWaiters     = "2,20,50"
)

// parse returns the configuration, or an error if the command line is invalid.
// It starts nothing.
func parse(args []string, stderr io.Writer) (config, error) {
	var cfg config
	var waiters string
	fs := flag.NewFlagSet("herd", flag.ContinueOnError)
	fs.StringVar(&cfg.servers, "servers", "",
		"`host:port,...` of a real ensemble (default: an embedded server)")
	fs.StringVar(&waiters, "waiters", "", "how many `clients` wait, one number for each measurement\n"+
		"(default: "+defaultWaiters+", or "+fewWaiters+" with -servers)")
	fs.IntVar(&cfg.releases, "releases", 3, "number of releases to average over")
	fs.DurationVar(&cfg.timeout, "timeout", 2*time.Minute, "give up after this time")
	fs.SetOutput(io.Discard) // the caller prints errors
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			usage(fs, stderr)
		}
		return config{}, err
	}
	switch {
	case fs.NArg() > 0:
		return config{}, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	case cfg.releases < 1 || cfg.timeout <= 0:
		return config{}, errors.New("-releases and -timeout must be positive")
	}
	if waiters == "" {
		waiters = defaultWaiters
		if cfg.servers != "" {
			waiters = fewWaiters
		}
	}
	var err error
	cfg.waiters, err = parseWaiters(waiters)
	return cfg, err
}

func parseWaiters(list string) ([]int, error) {
	var waiters []int
	for field := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 || n > maxWaiters {
			return nil, fmt.Errorf("-waiters %s: %q is not a number from 1 to %d", list, field, maxWaiters)
		}
		waiters = append(waiters, n)
	}
	return waiters, nil
}

func usage(fs *flag.FlagSet, stderr io.Writer) {
	fmt.Fprintln(stderr, "Usage: herd [flags]")
	fmt.Fprintln(stderr, "Compares what three designs of a lock cost when many wait for it.")
	fs.SetOutput(stderr)
	fs.PrintDefaults()
}
