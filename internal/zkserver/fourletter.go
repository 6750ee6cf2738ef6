package zkserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// ErrNotServing is matched by the errors of four-letter words that a server
// answers only while it serves. Such a server is still starting or has lost its
// majority.
var ErrNotServing = errors.New("zkserver: server not serving")

const notServing = "This ZooKeeper instance is not currently serving requests"

// FourLetter sends one of ZooKeeper's four-letter words, such as srvr, mntr,
// wchs, dump or cons, and returns the answer. Only ctx bounds the wait: a
// paused server never answers.
func (s *Server) FourLetter(ctx context.Context, word string) (string, error) {
	reply, err := fourLetter(ctx, s.Addr(), word)
	if err != nil {
		return "", s.wrap(word, err)
	}
	return reply, nil
}

// Mode returns the server's role as it sees it: standalone, leader, follower,
// observer or read-only.
func (s *Server) Mode(ctx context.Context) (string, error) {
	reply, err := s.FourLetter(ctx, "srvr")
	if err != nil {
		return "", err
	}
	mode, ok := field(reply, "Mode: ")
	if !ok {
		return "", s.wrap("srvr", fmt.Errorf("no mode in %q", reply))
	}
	return mode, nil
}

// Metrics returns the server's mntr values by name, such as zk_znode_count.
func (s *Server) Metrics(ctx context.Context) (map[string]string, error) {
	reply, err := s.FourLetter(ctx, "mntr")
	if err != nil {
		return nil, err
	}
	metrics := make(map[string]string)
	for line := range strings.Lines(reply) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			metrics[name] = value
		}
	}
	return metrics, nil
}

// WatchCount returns the number of watches that clients have set on this
// server. Each member of an ensemble has its own. No four-letter word lists the
// watches on children, so there is no more than the count.
func (s *Server) WatchCount(ctx context.Context) (int, error) {
	metrics, err := s.Metrics(ctx)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(metrics["zk_watch_count"])
	return n, s.wrap("mntr", err)
}

// field returns the rest of the first line of reply that starts with prefix.
func field(reply, prefix string) (string, bool) {
	for line := range strings.Lines(reply) {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return "", false
}

func fourLetter(ctx context.Context, addr, word string) (string, error) {
	if len(word) != 4 {
		return "", fmt.Errorf("%q is not a four-letter word", word)
	}
	reply, err := exchange(ctx, addr, word)
	switch {
	case err != nil && ctx.Err() != nil:
		return "", fmt.Errorf("%w: %w", context.Cause(ctx), err)
	case err != nil:
		return "", err
	case reply == "":
		return "", io.ErrUnexpectedEOF
	case strings.HasPrefix(reply, notServing):
		return "", ErrNotServing
	case strings.Contains(reply, "is not executed because it is not in the whitelist"):
		return "", errors.New(strings.TrimSpace(reply))
	}
	return reply, nil
}

// exchange sends word and returns all data that arrives until the server closes
// the connection.
func exchange(ctx context.Context, addr, word string) (string, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	interrupt := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer interrupt()
	if _, err := io.WriteString(conn, word); err != nil {
		return "", err
	}
	reply, err := io.ReadAll(conn)
	return string(reply), err
}
