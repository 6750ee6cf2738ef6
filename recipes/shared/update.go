package shared

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// Update changes the value by a function of the user's, and returns what it has
// written. The function is called with the value of that moment, which is the
// seed if there is no node. What it returns is written if the node still has
// that value. If somebody else has written meanwhile, the function is called
// again with the new value, after a pause that grows up to a second. So no
// change by Update gets lost, and the function should have no other effect. It is
// called on the caller's goroutine, and must not change the value that it is
// given. There is one exception: if somebody deletes the node and makes it anew at
// that moment, Update may write over it, and the error matches ErrNodeReplaced.
//
// Update costs three requests, and one or two more for each time that somebody
// else was first. These are its errors:
//
//   - The function's, if it fails. Nothing is written then.
//   - Those of Refresh and TrySet: a *codec.DecodeError for data that is no
//     value, ErrNodeReplaced, and framework.ErrOutcomeUnknown if nobody knows
//     whether the value was written. WithUniqueData lets Update find that out.
func (v *Value[T]) Update(ctx context.Context, change func(old T) (T, error)) (now Versioned[T], err error) {
	const op = "update"
	if change == nil {
		return now, v.node.errorOf(op, bad("function", "nil", "must not be nil"))
	}
	contention := pauses.Contention()
	now, err = v.refresh(ctx, op)
	for written := false; err == nil && !written; {
		next, failed := change(now.Value)
		if failed != nil {
			return now, v.node.errorOf(op, reason.Foreign(failed))
		}
		now, written, err = v.trySet(ctx, op, now, next)
		if err == nil && !written {
			err = v.node.errorOf(op, v.waitForOthers(ctx, &contention))
		}
	}
	return now, err
}

// waitForOthers pauses until those who were first may be done. The end of the
// client ends the pause, and the function is not called again.
func (v *Value[T]) waitForOthers(ctx context.Context, contention *pauses.Growing) error {
	ctx, done := v.node.untilClosed(ctx)
	defer done()
	if err := follow.Pause(ctx, v.node.Client, contention); err != nil {
		return err
	}
	return context.Cause(framework.Extend(v.node.Client).Context())
}
