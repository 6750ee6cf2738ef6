package sharednode

import (
	"bytes"
	"context"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/once"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// Fate is what has become of a write whose reply was lost.
type Fate int

// The fates of a write.
const (
	Unknown Fate = iota
	Applied
	NotApplied
)

// Do makes a write by one request, and returns the node as the write has left it. If
// the session is lost before the request was sent, Do makes it in the next one.
//
// If the reply is lost, Do reads the node, and makes the write again if it was not
// applied, as fate tells. If the read does not tell either, or fails, the error is the
// one of the write, which matches framework.ErrOutcomeUnknown. A write on which servers
// hang up is not made again: each attempt interrupts all other requests of the client.
// If it was not applied, the error is the *framework.HangUpError alone.
func (n Node) Do(
	ctx context.Context, send func(ctx context.Context) (*Snapshot, error), fate func(now *Snapshot) Fate,
) (s *Snapshot, err error) {
	for {
		inSession := false // it stays so if ctx is pinned to a session that is lost
		err = n.Client.InSession(ctx, func(ctx context.Context) (err error) {
			inSession = true
			s, err = n.write(ctx, send, fate)
			return err
		})
		unsent := inSession && reason.Is(err, framework.ErrSessionLost) && !reason.Is(err, framework.ErrOutcomeUnknown)
		if !unsent || ctx.Err() != nil {
			return s, err
		}
	}
}

// write is Do in one session. There, no server applies the write after the
// transaction that precedes the read: a sync would be no barrier at a leader. In
// the next session, a server still may. So write reads through outages, and ends
// with the session.
func (n Node) write(
	ctx context.Context, send func(ctx context.Context) (*Snapshot, error), fate func(now *Snapshot) Fate,
) (*Snapshot, error) {
	unapplied := pauses.Vanished()
	for {
		s, err := send(ctx)
		if !reason.Is(err, framework.ErrOutcomeUnknown) || ctx.Err() != nil {
			return s, err
		}
		outages := follow.Recovery{Client: n.Client, Ends: func(err error) bool { return follow.Judge(err) != follow.Outage }}
		readErr := outages.Until(ctx, func(ctx context.Context) (err error) {
			if err = n.Client.SyncQuorum(ctx); err == nil {
				s, err = n.Read(ctx)
			}
			return err
		})
		if readErr != nil {
			return nil, fmt.Errorf("%w (and then: %w)", err, readErr)
		}
		switch fate(s) {
		case Applied:
			return s, nil
		case Unknown:
			return nil, err
		}
		var hangUp *framework.HangUpError
		if reason.As(err, &hangUp) {
			return nil, hangUp
		}
		// A server may answer at once that it has failed, time and again. If ctx has
		// ended, the next attempt says so.
		_ = follow.Pause(ctx, n.Client, &unapplied)
	}
}

// Set writes data, whatever is there, and creates the node if it does not
// exist. It returns the node as it is then. Base is what the caller knows of the
// node, or nil: with it, Set can be sure in more cases that a request whose
// reply was lost was not applied, and make it again.
func (n Node) Set(ctx context.Context, base *Snapshot, data []byte) (*Snapshot, error) {
	vanished := pauses.Vanished()
	fate := func(now *Snapshot) Fate { return resolveSet(base, now, data) }
	for {
		s, err := n.Do(ctx, func(ctx context.Context) (*Snapshot, error) { return n.Transact(ctx, data) }, fate)
		if !reason.Is(err, zk.ErrNoNode) || reason.Is(err, framework.ErrOutcomeUnknown) {
			return s, err
		}
		s, err = n.Do(ctx, func(ctx context.Context) (*Snapshot, error) { return n.Create(ctx, data) }, fate)
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
