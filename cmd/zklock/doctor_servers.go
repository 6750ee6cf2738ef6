package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/gocurator/curator/cmd/zklock/internal/columns"
	"github.com/gocurator/curator/cmd/zklock/internal/view"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
)

// server is the JSON of the answers of a server in the connection string.
type server struct {
	Type    string        `json:"type"` // "server"
	Address string        `json:"server_address"`
	Answers bool          `json:"answers"`
	Latency *view.Seconds `json:"latency_seconds,omitempty"` // time until the session began; nil without one
	Mode    string        `json:"mode,omitempty"`            // such as "leader"
	Version string        `json:"version,omitempty"`
	Error   string        `json:"error,omitempty"`
}

// serverPatience is how long a server may take to answer.
const serverPatience = 3 * time.Second

// servers asks all servers individually and at the same time. It returns an error if no
// server answers.
func (d *doctor) servers(ctx context.Context) error {
	addresses, chroot := splitServers(d.env.servers)
	if len(addresses) == 0 {
		return usagef("no servers: name them with -S or ZKLOCK_SERVERS")
	}
	opts, err := d.clientOptions()
	if err != nil {
		return err
	}
	whole, err := framework.New(d.env.servers, opts...)
	if err != nil {
		return err // the connection string cannot be used
	}
	whole.Close()
	all := make([]server, len(addresses))
	var asked sync.WaitGroup
	for i, addr := range addresses {
		asked.Go(func() { all[i] = d.askServer(ctx, addr, chroot, opts) })
	}
	asked.Wait()
	if err := d.tellServers(all); err != nil {
		return err
	}
	answers := 0
	for _, s := range all {
		if s.Answers {
			answers++
		} else {
			d.find(finding{What: "server does not answer", Path: s.Address, Text: s.Error})
		}
	}
	if answers == 0 && ctx.Err() == nil {
		return statusError{noServer, fmt.Errorf("no server of %s answers", printable.String(d.env.servers))}
	}
	return ctx.Err()
}

// splitServers splits a connection string. The chroot begins with a slash.
func splitServers(text string) (addresses []string, chroot string) {
	text, chroot, ok := strings.Cut(text, "/")
	if ok {
		chroot = "/" + chroot
	}
	for addr := range strings.SplitSeq(text, ",") {
		if addr = strings.TrimSpace(addr); addr != "" {
			addresses = append(addresses, addr)
		}
	}
	return addresses, chroot
}

// askServer opens a session at one server.
func (d *doctor) askServer(ctx context.Context, addr, chroot string, opts []framework.Option) server {
	s := server{Type: "server", Address: addr}
	ctx, cancel := context.WithTimeout(ctx, serverPatience)
	defer cancel()
	conn, err := d.dialServer(ctx, addr) // a client would retry the address for ever
	if err != nil {
		s.Error = err.Error()
		return s
	}
	conn.Close()
	begin := time.Now()
	c, err := framework.Connect(ctx, addr+chroot, opts...)
	if err != nil {
		s.Error = err.Error()
		return s
	}
	took := view.SecondsOf(time.Since(begin))
	s.Answers, s.Latency = true, &took
	c.Close()
	if d.tls == (tlsFiles{}) {
		s.Mode, s.Version = d.serverStatus(ctx, addr)
	}
	return s
}

// dialServer connects to a server, by default to ZooKeeper's port.
func (d *doctor) dialServer(ctx context.Context, addr string) (net.Conn, error) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		addr = net.JoinHostPort(strings.Trim(addr, "[]"), "2181")
	}
	return d.dial(ctx, "tcp", addr)
}

var (
	modeLine    = regexp.MustCompile(`(?m)^Mode: (\w[\w -]*)$`)
	versionLine = regexp.MustCompile(`(?m)^Zookeeper version: ([\w.]+)`)
)

// serverStatus asks a server for its status by a four-letter word, which the server's
// configuration may forbid.
func (d *doctor) serverStatus(ctx context.Context, addr string) (mode, version string) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := d.dialServer(ctx, addr)
	if err != nil {
		return "", ""
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	conn.SetDeadline(deadline)
	if _, err := io.WriteString(conn, "srvr"); err != nil {
		return "", ""
	}
	var answer bytes.Buffer
	io.Copy(&answer, io.LimitReader(conn, 4096)) // after an error, the text received so far counts
	return firstMatch(modeLine, answer.String()), firstMatch(versionLine, answer.String())
}

func firstMatch(re *regexp.Regexp, text string) string {
	if m := re.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

func (d *doctor) tellServers(all []server) error {
	if d.isJSON() {
		for _, s := range all {
			if err := d.writeJSON(s); err != nil {
				return err
			}
		}
		return nil
	}
	table := d.table()
	table.Header("SERVER", "ANSWERS", "AFTER", "MODE", "VERSION")
	for _, s := range all {
		row := columns.Cells(printable.String(s.Address), "yes", "", s.Mode, s.Version)
		row[1].Style = columns.Good
		if s.Answers {
			row[2].Text = fmt.Sprintf("%.0fms", *s.Latency*1000)
		} else {
			row[1] = columns.Cell{Text: "no", Style: columns.Bad}
		}
		table.Row(row...)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(d.out)
	return err
}
