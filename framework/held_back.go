package framework

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/suspects"
	"github.com/gocurator/curator/framework/internal/transport"
)

// holdBack waits before a suspicious request is sent: until the connection has
// held for a while, or as long as the request is held back. If that takes longer
// than a second, it returns an error after a second, so that callers that try
// again at once have a pause.
func (s *Session) holdBack(ctx context.Context, r transport.Request) error {
	why, proven, left := s.client.suspects.About(r)
	if held, ok := s.link.Held(); ok && why != nil && !proven {
		left = suspects.ProvenAfter - held
	}
	if left <= 0 {
		return nil
	}
	pause := time.NewTimer(min(left, time.Second))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", notSent(ctx), why)
	case <-s.ctx.Done():
		return s.sessionError(zk.ErrNoServer)
	}
	if left > time.Second {
		return fmt.Errorf("%w: %w", errHeldBack, why)
	}
	return nil
}

// beforeSuspect returns the first of the requests, and those behind it up to one with
// which connections have ended. It would take the first with it time and again. Whoever
// needs its answer asks for it alone, and is held back then.
func (s *Session) beforeSuspect(requests []transport.Request) []transport.Request {
	for i := 1; i < len(requests); i++ {
		if why, _, _ := s.client.suspects.About(requests[i]); why != nil {
			return requests[:i]
		}
	}
	return requests
}

// lostAgain adds to the error of a request whose reply was lost that this was not the
// first connection to end with it, or with the watches that are set before it.
func (s *Session) lostAgain(err error, r transport.Request) error {
	if why, _, _ := s.client.suspects.About(r); why != nil {
		err = fmt.Errorf("%w: %w", err, why)
	}
	if why := s.watches.Interruption(); why != nil {
		err = fmt.Errorf("%w: %w", err, why)
	}
	return err
}
