package follow

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
)

// Until calls a function until it succeeds, or fails with an error that waiting
// does not cure, which it returns. If ctx ends first, the error is GaveUp's. The
// context of the function takes down what its requests outlast.
func (r *Recovery) Until(ctx context.Context, do func(ctx context.Context) error) error {
	ctx = framework.Extend(r.Client).OnTrouble(ctx, r.Note)
	for {
		err := do(ctx)
		if err == nil {
			return nil
		}
		if err = r.Wait(ctx, err); reason.IsOfContext(ctx, err) {
			return r.GaveUp(ctx)
		}
		if err != nil {
			return err
		}
	}
}
