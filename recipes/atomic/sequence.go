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

// Sequence makes numbers, each of them once, for all processes that use its
// path. Each number is one write without any condition, so nobody waits for
// anybody else, however many want numbers at once. It is safe for concurrent
// use. Sequences need not be kept: they are equal if they have the same path.
//
// The node is persistent, has no data, and is used for nothing else. The first
// call creates it, and missing parents as containers.
//
// If the reply to a write is lost, the write is repeated. A number is lost
// then, and no number is given twice. The methods return errors as
// framework.Client.Set does. If the node or its parent is deleted as soon as it
// is created, time and again, that is zk.ErrNoNode, after some pauses. An error
// that matches framework.ErrOutcomeUnknown also costs no more than a number.
type Sequence struct {
	client *framework.Client
	path   string
	fault  error

	mu    sync.Mutex // protects the following field
	czxid int64      // the czxid of the node that NextDense has seen, or 0
}

// NewSequence returns the sequence with this path. It does not contact the
// server: a client or a path that cannot be used is an error of every call.
func NewSequence(c *framework.Client, path string) *Sequence {
	s := &Sequence{client: c, path: path, fault: framework.ValidatePath(path)}
	if c == nil {
		s.fault = isNil("client")
	}
	return s
}

// Next returns a number that is larger than every number that was returned
// before the call, by any process. It is the id of a transaction: positive, and
// far from dense. Deletion of the node does no harm. Only an ensemble that is
// set back, from a backup, may give numbers again.
func (s *Sequence) Next(ctx context.Context) (int64, error) {
	stat, err := s.write(ctx, "next")
	if err != nil {
		return 0, err
	}
	return stat.Mzxid, nil
}

// NextDense returns 1 for the first write of the node, 2 for the next, and so
// on: the node's version. It ends after 2147483647, with ErrExhausted. These
// numbers begin again after 2^32 writes, and if somebody deletes the node. The
// first call that sees a deletion, on this Sequence, fails with ErrRestarted;
// processes that start later cannot see it. Calls of Next take numbers, too.
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

// checkDense looks at the node that a dense number is from. Replies may be
// judged in another order than they were made in, so an older node is one that
// has gone.
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

// mostCreates is how often the node is created that another client deletes at once,
// or below a parent that the servers delete.
const mostCreates = 11

// write writes the node. It creates the node first if there is none.
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
