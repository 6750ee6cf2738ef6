package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

// config is the parsed command line and environment.
type config struct {
	servers string // empty: an embedded server
	svg     string // the file to draw into; empty for none
	hold    time.Duration
	timeout time.Duration
	// The user's collector, which also gets the spans; empty for none.
	forward string
}

// arrival returns how long stock has held the lock when the order arrives.
func (c config) arrival() time.Duration { return c.hold / 5 }

// parse returns the configuration, or an error if the command line is invalid.
// It starts nothing.
func parse(args []string, stderr io.Writer) (config, error) {
	var cfg config
	fs := flag.NewFlagSet("tracing", flag.ContinueOnError)
	fs.StringVar(&cfg.servers, "servers", "",
		"`host:port,...` of a real ensemble (default: an embedded server)")
	fs.StringVar(&cfg.svg, "svg", "", "draw the traces into this `file`")
	fs.DurationVar(&cfg.hold, "hold", 1500*time.Millisecond, "how long stock holds the lock")
	fs.DurationVar(&cfg.timeout, "timeout", time.Minute, "give up after this time")
	fs.SetOutput(io.Discard) // the caller prints errors
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(stderr, "Usage: tracing [flags]")
			fmt.Fprintln(stderr, "Shows the wait for a lock in the traces of two services.")
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
	cfg.forward, err = userCollector()
	return cfg, err
}

// userCollector returns the collector that the environment names, or "" if it
// names none. The exporter reads these and other variables itself. This
// function only checks that there is a collector, and that its protocol is
// supported.
func userCollector() (string, error) {
	endpoint := firstSet("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
	protocol := firstSet("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
	if endpoint != "" && protocol != "" && protocol != "http/protobuf" {
		return "", fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL=%s: this example supports only http/protobuf", protocol)
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
