package framework

import (
	"context"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/state"
)

// readTogether makes a read, or takes part in one, and returns the value with a
// watch that is as old as the value or older. The caller is a waiter of the
// watch then.
func readTogether[T any](
	ctx context.Context, s *Session, key watches.ReadKey, read func(path string, watch bool) proto.Request[T],
) (v T, w *watches.Watch, err error) {
	r := s.watches.TakePart(key)
	defer func() {
		if w == nil {
			r.Leave()
		}
	}()
	for {
		begins, err := beginTogether(ctx, s, r)
		if err != nil {
			return v, nil, err
		}
		if begins {
			sendTogether(ctx, s, r, read(key.Watch.Path, r.AsksForWatch()))
		}
		v, err := awaitTogether[T](ctx, r)
		switch next := r.Next(); {
		case next != nil:
			r = next
		case err != nil:
			return v, nil, err
		default:
			return v, r.Watch(), nil
		}
	}
}

// beginTogether waits until the read can be sent, and reports whether this caller
// is to do that. What it waits for may come on the next connection only. It waits
// for that one as every operation does.
func beginTogether(ctx context.Context, s *Session, r *watches.Read) (begins bool, err error) {
	for ctx.Err() == nil {
		connection := s.Trusted(state.StandardPolicy)
		begins, later, err := r.Begin()
		if later == nil {
			return begins, err
		}
		select {
		case <-later:
		case <-ctx.Done():
		case <-connection.Done(): // also if the session has ended
			if err := s.goOn(ctx); err != nil {
				return false, err
			}
		}
	}
	return false, notSent(ctx)
}

// goOn waits until the session has a connection again.
func (s *Session) goOn(ctx context.Context) error {
	if s.ctx.Err() == nil {
		if now, err := s.client.connectedSession(ctx); now == s || err != nil {
			return err
		}
	}
	return s.watches.EndError()
}

// sendTogether gives the read to the connection. When the answer arrives, the
// connection notes what it means for the watch, even if all callers have left
// by then.
func sendTogether[T any](ctx context.Context, s *Session, r *watches.Read, q proto.Request[T]) {
	p := newPending(s, q)
	p.Then = func(code int32, err error) {
		missing := err == nil && q.NoNodeIsAnswer && code == proto.CodeNoNode
		r.Answered(err == nil && (code == proto.CodeOK || missing), missing)
	}
	if r.IsShared() {
		p.Reader = nil
	}
	err := s.start(ctx, &p.Call)
	if err != nil {
		r.Failed(reason.Is(err, errNotSent))
	}
	r.Sent(p, err)
}

func awaitTogether[T any](ctx context.Context, r *watches.Read) (v T, err error) {
	p, err := r.Request(ctx)
	if err != nil {
		return v, err
	}
	return p.(*pending[T]).await(ctx, nil)
}
