package framework

import (
	"bytes"
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// createOrTake makes the node, or does with one that exists what OrSet and Idempotent say. After a lost reply it begins
// again: what it finds then is judged as if somebody else had made it.
func (a *createAttempts) createOrTake(ctx context.Context, s *Session) (Created, error) {
	for tries := 0; ; tries++ {
		created, err := a.createOrExists(ctx, s)
		if !errors.Is(err, zk.ErrNodeExists) {
			return created, err
		}
		stat, err := a.take(ctx, s)
		switch {
		case errors.Is(err, zk.ErrNoNode) && tries < maxVanished:
			continue
		case err != nil:
			return Created{}, err
		}
		return Created{Path: a.target, Czxid: stat.Czxid, Session: s}, nil
	}
}

// createOrExists does not ask for what is there always.
func (a *createAttempts) createOrExists(ctx context.Context, s *Session) (Created, error) {
	if a.target == "/" {
		return Created{}, zk.ErrNodeExists
	}
	return a.createWithParents(ctx, s)
}

// take makes a node that exists do, or returns zk.ErrNoNode if it does not exist any more.
func (a *createAttempts) take(ctx context.Context, s *Session) (*zk.Stat, error) {
	mayBeDone := a.idempotent || a.inDoubt != nil && a.orVersion != AnyVersion
	if mayBeDone {
		// The server that reported the node has seen it made, so there is no need for a sync.
		now, err := getData(ctx, s, a.target)
		switch {
		case err != nil:
			return nil, err
		case now.stat.Version == 0 && bytes.Equal(now.data, a.data):
			return now.stat, nil
		}
	}
	if !a.orSet {
		return nil, zk.ErrNodeExists
	}
	return a.set.attempt(ctx, s)
}
