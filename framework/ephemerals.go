package framework

import (
	"context"
	"log/slog"
	"sync"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/retry"
)

// ephemerals is the set of a session's ephemeral nodes, as far as this client
// has made them and has not deleted them. Others may have deleted some, and
// nobody tells the client. So it looks which of them are there before it says,
// or does, anything about their number.
//
// Ending a session is one transaction that names all of them. Servers take
// about two megabytes for that: with more, a leader's followers leave it one
// after the other, and a server that has written it down does not start again
// (ZOOKEEPER-4306). The set tells how near a session is to that.
type ephemerals struct {
	mu         sync.Mutex        // protects the following fields
	paths      map[string]uint64 // with the number under which each was noted
	noted      uint64            // the newest of these numbers
	size       int               // of the paths in the transaction
	trusted    int               // the size beyond which to look; 0 stands for maxEndingSize
	looking    bool              // which of them are there
	warnedSize int               // at which there was a warning
}

const (
	// maxEndingSize is how long the paths of a session may be together, for one
	// transaction to end it.
	maxEndingSize = 1 << 20

	// untrustedSize is how much the set may grow beyond the limit until the
	// client looks again, if it has been near the limit.
	untrustedSize = maxEndingSize / 4

	pathHeader = 4 // length
)

// ephemeralCreated notes an ephemeral node, with the server's name for its
// path.
func (s *Session) ephemeralCreated(path string) {
	if nodes := s.ephemerals.add(path); nodes != nil {
		s.client.spawn(func(context.Context) { s.countEphemerals(nodes) })
	}
}

// add returns the nodes if they are so many that it is time to look which of
// them are there.
func (e *ephemerals) add(path string) (look []notedPath) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.paths == nil {
		e.paths = map[string]uint64{}
	}
	if _, known := e.paths[path]; !known {
		e.size += pathHeader + len(path)
	}
	e.noted++
	e.paths[path] = e.noted
	if e.looking || e.size <= max(e.trusted, maxEndingSize) {
		return nil
	}
	e.looking = true
	return e.listLocked()
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

// notedPath is a node of the set, as it was noted at some time.
type notedPath struct {
	path   string
	number uint64
}

func (e *ephemerals) listLocked() []notedPath {
	all := make([]notedPath, 0, len(e.paths))
	for path, number := range e.paths {
		all = append(all, notedPath{path, number})
	}
	return all
}

// counted ends a look that has found so many bytes of paths. It returns the size
// if it has passed the limit, or has doubled since the last warning, else 0.
func (e *ephemerals) counted(there int) (warn int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.looking = false
	if there <= maxEndingSize {
		e.trusted = there + untrustedSize
		return 0
	}
	e.trusted = 2 * there
	if there < 2*e.warnedSize {
		return 0
	}
	e.warnedSize = there
	return there
}

// remove takes a node out that was noted under the number. If it has another
// number, it was made anew since.
func (e *ephemerals) remove(path string, number uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.paths[path] == number {
		e.removeLocked(path)
	}
}

func (e *ephemerals) removeLocked(path string) {
	if _, known := e.paths[path]; known {
		delete(e.paths, path)
		e.size -= pathHeader + len(path)
	}
}

// nodeGone notes that there is no such node any more, ephemeral or not.
func (s *Session) nodeGone(path string) {
	s.ephemerals.mu.Lock()
	defer s.ephemerals.mu.Unlock()
	s.ephemerals.removeLocked(path)
}

// nodeGone is that of the present session. The client does not know the nodes
// of an earlier one any more.
func (c *Client) nodeGone(path string) {
	c.mu.Lock()
	s := c.session
	c.mu.Unlock()
	s.nodeGone(path)
}

// excess returns nodes that must be deleted before the session may be ended.
func (e *ephemerals) excess() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var paths []string
	left := e.size
	for path := range e.paths {
		if left <= maxEndingSize {
			break
		}
		paths = append(paths, path)
		left -= pathHeader + len(path)
	}
	return paths
}
