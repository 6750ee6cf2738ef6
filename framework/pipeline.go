package framework

import (
	"context"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
)

// pipelineDepth is how many requests of a pipeline are under way at a time.
const pipelineDepth = transport.PipelineDepth

// pipeline sends many requests ahead of their answers, in order and a bounded
// number at a time. It calls each with the result of every request, in the same
// order. Only the error of a request that cannot be sent comes at once.
//
// After the first error that each returns it sends nothing more, awaits what is
// under way, and returns that error. So nothing happens any more when it returns,
// unless ctx or the session has ended.
func pipeline[A, T any](
	ctx context.Context, s *Session, args []A,
	q func(A) proto.Request[T], each func(A, T, error) error,
) (failed error) {
	var none T
	var window [pipelineDepth]pending[T]
	for i := range len(args) + pipelineDepth {
		slot := &window[i%pipelineDepth]
		if slot.call != nil {
			v, err := slot.await(ctx, nil)
			if failed == nil {
				failed = each(args[i-pipelineDepth], v, err)
			}
			*slot = pending[T]{}
		}
		if failed != nil || i >= len(args) {
			continue
		}
		p, err := start(ctx, s, q(args[i]), nil)
		if err != nil {
			failed = each(args[i], none, err)
		} else {
			*slot = p
		}
	}
	return failed
}
