package sharednode

import (
	"bytes"
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/once"
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
	Resolve func(now *Snapshot) follow.Fate
}

// Do makes the attempt, and makes it again after a lost reply if it was not
// applied. It returns the node as the write has left it.
func (n Node) Do(ctx context.Context, a Attempt) (s *Snapshot, err error) {
	for {
		inSession := false // it stays so if ctx is pinned to a session that is lost
		err = n.Client.InSession(ctx, func(ctx context.Context) (err error) {
			inSession = true
			return follow.Resolve(ctx, n.Client, func(ctx context.Context) (err error) {
				s, err = a.Send(ctx)
				return err
			}, func(ctx context.Context) (fate follow.Fate, err error) {
				if s, err = n.Read(ctx); err == nil {
					fate = a.Resolve(s)
				}
				return fate, err
			})
		})
		sent := err == nil || reason.Is(err, framework.ErrOutcomeUnknown)
		if !sent && inSession && reason.Is(err, framework.ErrSessionLost) && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		return s, nil
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
			Resolve: func(now *Snapshot) follow.Fate { return resolveSet(base, now, data) },
		})
		if !reason.Is(err, zk.ErrNoNode) || reason.Is(err, framework.ErrOutcomeUnknown) {
			return s, err
		}
		s, err = n.Do(ctx, Attempt{
			Send:    func(ctx context.Context) (*Snapshot, error) { return n.Create(ctx, data) },
			Resolve: func(now *Snapshot) follow.Fate { return resolveSet(nil, now, data) },
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
func resolveSet(base, now *Snapshot, data []byte) follow.Fate {
	switch {
	case now.Exists && bytes.Equal(now.Data, data):
		return follow.Applied
	case base != nil && base.Exists && now.Exists && now.Mzxid == base.Mzxid:
		return follow.NotApplied
	default:
		return follow.Unknown
	}
}

// Transact writes data in a transaction behind other operations. Framework does not
// repeat it after a lost reply: another client may have written since.
func (n Node) Transact(ctx context.Context, data []byte, before ...framework.TxnOp) (*Snapshot, error) {
	ctx = once.Context(ctx)
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
