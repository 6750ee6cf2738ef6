package sharednode

import (
	"bytes"
	"context"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// Attempt is one request that writes, and how to find out what has become of it
// when its reply is lost. It is for one session: as long as that lives, no
// server carries the request out after a transaction that follows it. In the
// next session, one still may.
type Attempt struct {
	Send    func(ctx context.Context) (*Snapshot, error)
	Resolve func(now *Snapshot) Fate
}

// Fate is what has become of a request whose reply was lost.
type Fate int

// The fates of a request.
const (
	Unknown Fate = iota
	Applied      // the node is as the request leaves it
	NotApplied
)

// Do makes the attempt, and makes it again after a lost reply if it was not
// applied. It returns the node as the write has left it.
func (n Node) Do(ctx context.Context, a Attempt) (s *Snapshot, err error) {
	for {
		inSession := false // it stays so if ctx is pinned to a session that is lost
		err = n.Client.InSession(ctx, func(ctx context.Context) (err error) {
			inSession = true
			s, err = n.doInSession(ctx, a)
			return err
		})
		sent := err == nil || reason.Is(err, framework.ErrOutcomeUnknown)
		if sent || !inSession || !reason.Is(err, framework.ErrSessionLost) || ctx.Err() != nil {
			return s, err
		}
	}
}

// doInSession pauses if the attempt is not applied time and again: a server may
// answer at once that it has failed, and leave open whether it was before or after.
func (n Node) doInSession(ctx context.Context, a Attempt) (*Snapshot, error) {
	unapplied := pauses.Vanished()
	for {
		s, err := a.Send(ctx)
		if !reason.Is(err, framework.ErrOutcomeUnknown) || ctx.Err() != nil {
			return s, err
		}
		now, readErr := n.readPatiently(ctx)
		if readErr != nil {
			return nil, fmt.Errorf("%w (and then: %w)", err, readErr)
		}
		switch a.Resolve(now) {
		case Applied:
			return now, nil
		case Unknown:
			return nil, err
		}
		_ = follow.Pause(ctx, n.Client, &unapplied) // the next attempt says that ctx has ended
	}
}

// Set writes data, whatever is there, and creates the node if it does not
// exist. It returns the node as it is then. Base is what the caller knows of the
// node, or nil: with it, Set can be sure in more cases that a request whose
// reply was lost was not applied, and make it again.
func (n Node) Set(ctx context.Context, base *Snapshot, data []byte) (*Snapshot, error) {
	vanished := pauses.Vanished()
	for {
		s, err := n.Do(ctx, Attempt{
			Send:    func(ctx context.Context) (*Snapshot, error) { return n.Transact(ctx, data) },
			Resolve: func(now *Snapshot) Fate { return resolveSet(base, now, data) },
		})
		if !reason.Is(err, zk.ErrNoNode) || reason.Is(err, framework.ErrOutcomeUnknown) {
			return s, err
		}
		s, err = n.Do(ctx, Attempt{
			Send:    func(ctx context.Context) (*Snapshot, error) { return n.Create(ctx, data) },
			Resolve: func(now *Snapshot) Fate { return resolveSet(nil, now, data) },
		})
		if !reason.Is(err, zk.ErrNodeExists) || reason.Is(err, framework.ErrOutcomeUnknown) {
			return s, err
		}
		if err := follow.Pause(ctx, n.Client, &vanished); err != nil {
			return nil, err
		}
	}
}

// resolveSet finds out what has become of a request that writes data over
// whatever is there. If the node has the data, it does not matter who has
// written it. If it was not written at all since base was known, then not by
// us. Otherwise ours may have been overwritten.
func resolveSet(base, now *Snapshot, data []byte) Fate {
	switch {
	case now.Exists && bytes.Equal(now.Data, data):
		return Applied
	case base != nil && base.Exists && now.Exists && now.Mzxid == base.Mzxid:
		return NotApplied
	default:
		return Unknown
	}
}

// Transact writes data in a transaction behind other operations. It is one
// request, which framework does not repeat: its Set would be repeated, or take
// the same bytes of another client for its own.
func (n Node) Transact(ctx context.Context, data []byte, before ...framework.TxnOp) (*Snapshot, error) {
	results, err := n.Client.Transaction(ctx, append(before, framework.SetOp(n.Path, data, framework.AnyVersion))...)
	if err != nil {
		return nil, err
	}
	return Present(data, results[len(results)-1].Stat), nil
}

// Create creates the node, and missing parents as containers.
func (n Node) Create(ctx context.Context, data []byte) (*Snapshot, error) {
	made, err := n.Client.Create(ctx, n.Path, data, framework.WithParents())
	if err != nil {
		return nil, err
	}
	return Present(data, &zk.Stat{Czxid: made.Czxid, Mzxid: made.Czxid}), nil
}
