package atomic

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// Sequence generates unique numbers for all processes that use its path. Each number costs
// one unconditional write, so callers never wait for each other. A Sequence is safe for
// concurrent use. Sequences with the same path are equal, so a program need not keep one.
//
// The node is persistent, has no data, and must not be used for anything else. The first
// call creates the node, and missing parents as containers.
//
// If the reply to a write is lost, the Sequence writes again: one number is then unused,
// but no number is returned twice. The methods return the errors of framework.Client.Set.
// An error that matches framework.ErrOutcomeUnknown wastes at most one number. If another
// client keeps deleting the node or its parent, the methods pause, and finally return
// zk.ErrNoNode.
type Sequence struct {
	client *framework.Client
	path   string
	fault  error

	mu    sync.Mutex // protects the following field
	czxid int64      // of the newest node that NextDense has seen, or 0
}

// NewSequence returns the sequence with this path, without a request. If an argument is
// invalid, every call returns the error.
func NewSequence(c *framework.Client, path string) *Sequence {
	s := &Sequence{client: c, path: path, fault: framework.ValidatePath(path)}
	if c == nil {
		s.fault = isNil("client")
	}
	return s
}

// Next returns a number that is larger than every number that any process got before the
// call. The number is the zxid of a write: positive, and far from dense. A deletion of
// the node does no harm. Numbers may repeat only if the ensemble is restored from a
// backup.
func (s *Sequence) Next(ctx context.Context) (int64, error) {
	stat, err := s.write(ctx, "next")
	if err != nil {
		return 0, err
	}
	return stat.Mzxid, nil
}

// NextDense returns 1 for the first write of the node, 2 for the next, and so on: the
// version of the node. After 2147483647, NextDense returns ErrExhausted. Dense numbers
// start again after 2^32 writes, and if the node is deleted. The first call that notices a
// deletion on this Sequence returns ErrRestarted; a process that starts later cannot
// notice it. Calls of Next use up dense numbers, too.
func (s *Sequence) NextDense(ctx context.Context) (int32, error) {
	stat, err := s.write(ctx, "next-dense")
	if err != nil {
		return 0, err
	}
	if err := s.checkDense(stat); err != nil {
		return 0, s.failed("next-dense", err)
	}
	return stat.Version, nil
}

// checkDense checks the node to which a dense number belongs. Replies may be checked out of
// order, so the node may be older than the newest node seen. Such a node was deleted since.
func (s *Sequence) checkDense(stat *zk.Stat) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.czxid
	s.czxid = max(last, stat.Czxid)
	switch {
	case last != 0 && stat.Czxid != last:
		return ErrRestarted
	case stat.Version <= 0:
		return ErrExhausted
	}
	return nil
}

// mostCreates is how often write creates a node that other clients keep deleting, or whose
// parent the servers delete.
const mostCreates = 11

// write writes the node, and creates it first if it is missing.
func (s *Sequence) write(ctx context.Context, op string) (*zk.Stat, error) {
	switch {
	case s.fault != nil:
		return nil, s.failed(op, s.fault)
	case s.client == nil:
		return nil, s.failed(op, errNotMade)
	}
	vanished := pauses.Vanished()
	for creates := 0; ; creates++ {
		stat, err := s.client.Set(ctx, s.path, nil, framework.AnyVersion)
		if err == nil {
			return stat, nil
		}
		if !reason.Is(err, zk.ErrNoNode) || creates == mostCreates {
			return nil, s.failed(op, err)
		}
		if ended := follow.Pause(ctx, s.client, &vanished); ended != nil {
			return nil, s.failed(op, fmt.Errorf("%w (last error: %w)", ended, err))
		}
		_, err = s.client.Create(ctx, s.path, nil, framework.WithParents(), framework.WithIdempotence())
		if err != nil && !reason.Is(err, zk.ErrNodeExists) && !reason.Is(err, zk.ErrNoNode) {
			return nil, s.failed(op, err)
		}
	}
}

func (s *Sequence) failed(op string, err error) error {
	return &framework.OpError{Op: op, Path: s.path, Err: withoutOp(err)}
}
