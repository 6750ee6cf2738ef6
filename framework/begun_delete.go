package framework

import (
	"context"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
)

// BeginDelete implements insider.Client.
func (c insiderClient) BeginDelete(ctx context.Context, path string) (wait func() error) {
	d := newDeletion(c.full(path), AnyVersion)
	d.cfg.guaranteed = true
	if s, _, _ := c.sessionNow(); s != nil && validatePath(path) == nil && d.begin(s) == nil {
		d.write.doubt = s
	}
	return func() error { return d.do(ctx, c.Client, path) }
}

// begunDelete is the request of a delete that the connection has, or that waits for
// room on the connection. The zero begunDelete is none.
type begunDelete struct {
	*pending[proto.Nothing]
	place *transport.Waiter // nil if the connection has the request
}

func (b *begunDelete) isNone() bool { return b.pending == nil || b.place == nil && !b.IsSent() }

// beginDelete gives a delete to the connection, and waits for nothing. The session's
// later requests go out after it.
func (s *Session) beginDelete(path string, version int32) (begunDelete, error) {
	p := newPending(s, proto.Delete(path, version))
	place, err := s.link.SendAll(&p.Call)
	if err != nil {
		return begunDelete{}, s.sendError(err)
	}
	return begunDelete{p, place}, nil
}

// await returns the outcome of the request. If b is none afterwards, the request was
// not sent.
func (b *begunDelete) await(ctx context.Context) error {
	if b.place != nil {
		err := b.session.awaitRoom(ctx, b.place)
		b.place = nil
		if err != nil {
			return b.session.sendError(err)
		}
	}
	_, err := b.pending.await(ctx, nil)
	return err
}
