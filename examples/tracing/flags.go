package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

// config is what the command line and the environment ask for.
type config struct {
	servers string // empty: an embedded server
	svg     string // file; empty for none
	hold    time.Duration
	timeout time.Duration
	forward string // a collector that gets the spans, too; empty for none
}

// arrival is how long stock has held the lock when the order arrives.
func (c config) arrival() time.Duration { return c.hold / 5 }

// parse returns the configuration, or says what is wrong with it. It starts nothing.
func parse(args []string, stderr io.Writer) (config, error) {
	var cfg config
	fs := flag.NewFlagSet("tracing", flag.ContinueOnError)
	fs.StringVar(&cfg.servers, "servers", "", "`host:port,...` of a real ensemble (default: an embedded server)")
	fs.StringVar(&cfg.svg, "svg", "", "draw the traces into this `file`")
	fs.DurationVar(&cfg.hold, "hold", 1500*time.Millisecond, "how long stock holds the lock")
	fs.DurationVar(&cfg.timeout, "timeout", time.Minute, "give up after this time")
	fs.SetOutput(io.Discard) // the caller prints errors
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(stderr, "Usage: tracing [flags]\nShows the wait for a lock in the traces of two services.")
			fs.SetOutput(stderr)
			fs.PrintDefaults()
		}
		return config{}, err
	}
	switch {
	case fs.NArg() > 0:
		return config{}, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	case cfg.hold <= 0 || cfg.timeout <= 0:
		return config{}, errors.New("-hold and -timeout must be positive")
	}
	var err error
	cfg.forward, err = collectorOfTheUser()
	return cfg, err
}

// collectorOfTheUser returns where the environment says that spans should go. The exporter itself reads these
// variables, and others; this is to know whether there is one, and that it is not asked for what it cannot do.
func collectorOfTheUser() (string, error) {
	endpoint := firstSet("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
	protocol := firstSet("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
	if endpoint != "" && protocol != "" && protocol != "http/protobuf" {
		return "", fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL=%s: this example has only http/protobuf", protocol)
	}
	return endpoint, nil
}

func firstSet(variables ...string) string {
	for _, v := range variables {
		if value := os.Getenv(v); value != "" {
			return value
		}
	}
	return ""
}
