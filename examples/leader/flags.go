package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/gocurator/curator/framework"
)

// config is the parsed command line.
type config struct {
	servers        string // empty: an embedded server
	stay           bool
	kills          int
	sessionTimeout time.Duration
	every          time.Duration
	timeout        time.Duration
}

const maxKills = 100

// parse returns the configuration, or an error if the command line is invalid.
// It starts nothing.
func parse(args []string, stderr io.Writer) (config, error) {
	var cfg config
	fs := flag.NewFlagSet("leader", flag.ContinueOnError)
	fs.StringVar(&cfg.servers, "servers", "",
		"`host:port,...` of a real ensemble (default: an embedded server)")
	fs.BoolVar(&cfg.stay, "stay", false, "kill no process, and run until Ctrl-C")
	fs.IntVar(&cfg.kills, "kills", 3, "how often the leader is killed")
	fs.DurationVar(&cfg.sessionTimeout, "session-timeout", 2*time.Second, "how long a dead leader keeps the leadership")
	fs.DurationVar(&cfg.every, "every", 200*time.Millisecond, "time between heartbeats")
	fs.DurationVar(&cfg.timeout, "timeout", time.Minute, "without -stay: give up after this time")
	fs.SetOutput(io.Discard) // the caller prints errors
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			usage(fs, stderr)
		}
		return config{}, err
	}
	return cfg, cfg.validate(fs.Args())
}

func usage(fs *flag.FlagSet, stderr io.Writer) {
	fmt.Fprintln(stderr, "Usage: leader [flags]")
	fmt.Fprintln(stderr, "Runs three workers, of which one leads, and kills the leader.")
	fs.SetOutput(stderr)
	fs.PrintDefaults()
}

func (c *config) validate(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q", rest[0])
	case c.kills < 0 || c.kills > maxKills:
		return fmt.Errorf("-kills %d: must be from 0 to %d", c.kills, maxKills)
	case c.every <= 0 || c.timeout <= 0:
		return errors.New("-every and -timeout must be positive")
	case c.servers == "":
		return c.validateFor("127.0.0.1")
	default:
		return c.validateFor(c.servers)
	}
}

// validateFor lets the client check its own part of the configuration. A client
// that is closed at once contacts no server.
func (c *config) validateFor(servers string) error {
	client, err := framework.New(servers, framework.WithSessionTimeout(c.sessionTimeout))
	if err != nil {
		return err
	}
	return client.Close()
}
