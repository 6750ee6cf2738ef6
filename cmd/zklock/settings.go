package main

import (
	"cmp"
	"flag"
	"os"
	"time"

	"github.com/gocurator/curator/cmd/zklock/internal/cli"
)

// settings are the common flags.
type settings struct {
	servers        string
	authFile       string
	sasl           saslUser
	tls            tlsFiles
	sessionTimeout time.Duration
	connectTimeout time.Duration
	strict         bool
	format         format
	verbose        bool
	noColor        bool // from the environment
}

// defaults returns the settings of a command line without flags.
func defaults() *settings {
	return &settings{
		servers:        cmp.Or(os.Getenv("ZKLOCK_SERVERS"), os.Getenv("ZOOKEEPER_SERVERS")),
		sessionTimeout: 10 * time.Second,
		connectTimeout: 10 * time.Second,
		format:         table,
		noColor:        os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb",
	}
}

// define adds the common flags to a set. They change s, whose present values
// are the defaults.
func (s *settings) define(fs *flag.FlagSet) {
	fs.StringVar(&s.servers, "S", s.servers,
		"`servers`, such as zk1:2181,zk2:2181/shop; also $ZKLOCK_SERVERS or $ZOOKEEPER_SERVERS")
	cli.Alias(fs, "S", "servers")
	fs.StringVar(&s.authFile, "auth-file", s.authFile, "a `file` with lines scheme:credentials")
	fs.StringVar(&s.sasl.name, "sasl-user", s.sasl.name, "authenticate as this `user` by SASL, with DIGEST-MD5")
	fs.StringVar(&s.sasl.passwordFile, "sasl-password-file", s.sasl.passwordFile, "a `file` with the user's password")
	fs.StringVar(&s.tls.ca, "tls-ca", s.tls.ca, "speak TLS, and trust this PEM `file`")
	fs.StringVar(&s.tls.cert, "tls-cert", s.tls.cert, "the client's certificate, a PEM `file`")
	fs.StringVar(&s.tls.key, "tls-key", s.tls.key, "the key of the certificate, a PEM `file`")
	fs.StringVar(&s.tls.serverName, "tls-server-name", s.tls.serverName, "the `name` in the servers' certificates")
	cli.SecondsVar(fs, &s.sessionTimeout, "session-timeout", "`time` until a crashed holder's lock is free")
	cli.SecondsVar(fs, &s.connectTimeout, "connect-timeout", "`time` for the first connection")
	fs.BoolVar(&s.strict, "strict", s.strict, "count only contact that a majority has confirmed")
	cli.WordVar(fs, &s.format, "o", "format", "the `format`: table or json", table, jsonForm)
	cli.Alias(fs, "o", "output")
	fs.BoolVar(&s.verbose, "v", s.verbose, "report connections, grants and signals on stderr")
	cli.Alias(fs, "v", "verbose")
}

// format is the form of a command's output.
type format string

// The formats. With json, the output is one object per line.
const (
	table    format = "table"
	jsonForm format = "json"
)
