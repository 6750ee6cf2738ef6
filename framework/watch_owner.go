package framework

import (
	"context"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/watches"
)

// ownerOfWatches is the session as its watches see it.
func (s *Session) ownerOfWatches() watches.Owner {
	return watches.Owner{
		Context: s.ctx,
		Log:     s.client.cfg.logger,
		Spawn:   s.client.spawn,
		Exists:  s.lookAtWatched,
		Judge: func(code int32) (later bool, err error) {
			err = errorOf(code)
			return retryable(err), err
		},
	}
}

func (s *Session) lookAtWatched(ctx context.Context, all []*watches.Watch, each func(*watches.Watch, *proto.Stat, error)) {
	ask := func(w *watches.Watch) proto.Request[*proto.Stat] { return proto.Exists(w.Path(), false) }
	pipelineAll(ctx, s, all, ask, each)
}
