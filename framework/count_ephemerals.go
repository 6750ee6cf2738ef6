package framework

import (
	"context"
	"log/slog"
	"time"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/retry"
)

// ephemeralCreated notes an ephemeral node, with the server's name for its
// path.
func (s *Session) ephemeralCreated(path string) {
	if nodes := s.ephemerals.add(path); nodes != nil {
		s.client.spawn(func(context.Context) { s.countEphemerals(nodes) })
	}
}

// countEphemerals looks which nodes of the set are there, however long that
// takes, and warns if they are too many.
func (s *Session) countEphemerals(nodes []notedPath) {
	there := 0
	retry.Do(s.ctx, cleanupPolicy, retryable, func(ctx context.Context) (err error) {
		var found int
		nodes, found, err = s.lookForEphemerals(ctx, nodes)
		there += found
		return err
	})
	if size := s.ephemerals.counted(there); size > 0 && s.ctx.Err() == nil {
		s.client.cfg.logger.Warn("zookeeper session has very many ephemeral nodes: "+
			"servers may not survive its end if it is lost",
			slog.Int("bytes", size), slog.Int("limit", maxEndingSize))
	}
}

// lookForEphemerals returns the nodes that were not looked at, because of an
// error that is retryable, and how many bytes of paths are there. It takes the
// nodes that are not there out of the set. A node that we may not see is there.
func (s *Session) lookForEphemerals(
	ctx context.Context, nodes []notedPath,
) (left []notedPath, there int, failed error) {
	exists := func(n notedPath) proto.Request[*proto.Stat] { return proto.Exists(n.path, false) }
	pipelineAll(ctx, s, nodes, exists, func(n notedPath, stat *proto.Stat, err error) {
		switch {
		case retryable(err):
			left, failed = append(left, n), err
		case err == nil && (stat == nil || stat.EphemeralOwner != s.ID()):
			s.ephemerals.remove(n.path, n.number)
		default:
			there += pathHeader + len(n.path)
		}
	})
	return left, there, failed
}

// forgetMissing takes the nodes that the server does not list out of the set,
// before the session ends. Servers list them since version 3.6. An older one ends
// the connection.
func (s *Session) forgetMissing(patience time.Duration) {
	noted := s.ephemerals.list()
	code, body, ok := answerWithin(s.link.ListEphemerals(), patience)
	if !ok || code != proto.CodeOK {
		return
	}
	there, ok := transport.EphemeralsIn(body)
	if !ok {
		return
	}
	listed := make(map[string]bool, len(there))
	for _, path := range there {
		listed[path] = true
	}
	for _, n := range noted {
		if !listed[n.path] {
			s.ephemerals.remove(n.path, n.number)
		}
	}
}

// nodeGone notes that there is no such node any more, ephemeral or not.
func (s *Session) nodeGone(path string) {
	s.kept.remove(path)
	s.ephemerals.mu.Lock()
	defer s.ephemerals.mu.Unlock()
	s.ephemerals.removeLocked(path)
}

// nodeGone tells the present session that there is no such node any more. The
// client does not know the nodes of an earlier session.
func (c *Client) nodeGone(path string) {
	c.mu.Lock()
	s := c.session
	c.mu.Unlock()
	s.nodeGone(path)
}
