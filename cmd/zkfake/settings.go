package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// settings are the parsed command line.
type settings struct {
	listen  string
	members int // 0 for a standalone server
	control string
	version string
	tick    time.Duration

	minSession, maxSession time.Duration
	containerCheck         time.Duration

	saslUser, saslPassword string // empty without SASL
}

// parse parses the command line. It returns an error if the line is invalid.
func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	fs := flag.NewFlagSet("zkfake", flag.ContinueOnError)
	fs.StringVar(&s.listen, "listen", "127.0.0.1:2181", "`host:port` to serve on")
	fs.IntVar(&s.members, "members", 0, "serve as an ensemble of `n` members, on n ports")
	fs.StringVar(&s.control, "control", "", "`host:port` of the remote control; a loopback address")
	fs.StringVar(&s.version, "version", "3.9.3",
		"behave as this `version` of ZooKeeper: 3.9.3, or 3.8.0 with Debian's patches")
	fs.DurationVar(&s.tick, "tick", 0, "sessions expire only at multiples of this `duration`")
	fs.DurationVar(&s.minSession, "minsession", time.Millisecond, "the shortest session timeout, a `duration`")
	fs.DurationVar(&s.maxSession, "maxsession", 24*24*time.Hour, "the longest session timeout, a `duration`")
	fs.DurationVar(&s.containerCheck, "containercheck", time.Minute,
		"`duration` between two looks for empty containers and nodes with a TTL")
	fs.StringVar(&s.saslUser, "sasl-user", "", "authenticate this `user` by SASL, with DIGEST-MD5")
	fs.Func("sasl-password-file", "a `file` with the user's password", func(name string) error {
		data, err := os.ReadFile(name)
		password, _, _ := strings.Cut(string(data), "\n")
		s.saslPassword = strings.TrimSuffix(password, "\r")
		return err
	})
	fs.SetOutput(io.Discard) // the caller prints errors
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(stderr, "Usage: zkfake [flags]")
			fmt.Fprintln(stderr, "Serves an in-memory ZooKeeper until it is interrupted.")
			fs.SetOutput(stderr)
			fs.PrintDefaults()
		}
		return s, err
	}
	if fs.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	return s, s.check()
}

func (s settings) check() error {
	switch {
	case s.members < 0:
		return fmt.Errorf("-members %d: must not be negative", s.members)
	case s.version != "3.9.3" && s.version != "3.8.0":
		return fmt.Errorf("-version %s: must be 3.9.3 or 3.8.0", s.version)
	case s.tick < 0:
		return fmt.Errorf("-tick %v: must not be negative", s.tick)
	case s.minSession <= 0 || s.maxSession < s.minSession:
		return fmt.Errorf("-minsession %v, -maxsession %v: must be positive, and in this order", s.minSession, s.maxSession)
	case s.containerCheck < time.Millisecond:
		return fmt.Errorf("-containercheck %v: must be at least 1ms", s.containerCheck)
	case (s.saslUser == "") != (s.saslPassword == ""):
		return errors.New("-sasl-user and -sasl-password-file: give both, and a password, or neither")
	case s.control != "":
		return checkLoopback(s.control)
	}
	return nil
}

// checkLoopback returns an error unless the address is a loopback address, because the
// remote control asks for no password.
func checkLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("-control: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("-control %s: must be a loopback address, such as 127.0.0.1:2180", addr)
	}
	return nil
}

// options returns the settings as options of package zktest.
func (s settings) options() []zktest.Option {
	opts := []zktest.Option{
		zktest.WithTCP(s.listen),
		zktest.WithSessionTimeouts(s.minSession, s.maxSession),
		zkinside.With(zkinside.Settings{
			RequestLog: s.remembered(), ContainerCheckInterval: s.containerCheck,
			Tick: s.tick, Version38: s.version == "3.8.0",
		}).(zktest.Option),
	}
	if s.saslUser != "" {
		opts = append(opts, zktest.WithSASLUser(s.saslUser, s.saslPassword))
	}
	return opts
}

// remembered is how many requests the servers keep. Without the remote control, no
// caller reads these requests, and the program may run for a long time.
func (s settings) remembered() int {
	if s.control == "" {
		return -1
	}
	return 10_000
}
