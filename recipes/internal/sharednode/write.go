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

// Fate is the outcome of a write whose reply was lost.
type Fate int

// The outcomes of a write.
const (
	Unknown Fate = iota
	Applied
	NotApplied
)

// Send makes a write by one request, and returns the node after the write.
type Send func(ctx context.Context) (*Snapshot, error)

// Do makes a write, and returns the node after the write. If the session is lost before
// the request is sent, Do sends the request in the next session.
//
// If the reply is lost, Do reads the node, and repeats the write if fate shows that it
// was not applied. If the read fails or the outcome remains unknown, Do returns the error
// of the write, which matches framework.ErrOutcomeUnknown. If a server has closed the
// connection because of the write, Do does not repeat the write, because each attempt
// interrupts all other requests of the client. If such a write was not applied, the error
// is only the *framework.HangUpError.
func (n Node) Do(ctx context.Context, send Send, fate func(now *Snapshot) Fate) (s *Snapshot, err error) {
	for {
		inSession := false // it stays false if ctx is pinned to a lost session
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

// write is Do in one session. In that session, no server applies the write after the
// quorum sync that precedes the read; a plain sync would not prevent it at a leader. In
// the next session, a server may still apply the write. So write retries the read through
// outages, and ends with the session.
func (n Node) write(ctx context.Context, send Send, fate func(now *Snapshot) Fate) (*Snapshot, error) {
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
		// A server may repeatedly answer at once that it has failed. If ctx has ended,
		// the next attempt returns the error.
		_ = follow.Pause(ctx, n.Client, &unapplied)
	}
}

// Set writes data unconditionally, and creates the node if it does not exist. It returns
// the node after the write. Base is the node's last known state, or nil. With a base, Set
// can prove in more cases that a write whose reply was lost was not applied, and repeat
// the write.
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

// resolveSet finds out whether an unconditional write of data was applied. If the node
// has the data, the write counts as applied, even if another client has written the same
// data. If the node was not written since base, the write was not applied. Otherwise
// another client may have overwritten it.
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

// Transact writes data in a transaction, after other operations. Package framework does
// not repeat the transaction after a lost reply, because another client may have written
// since.
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
