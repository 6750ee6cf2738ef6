package framework

import (
	"context"
	"fmt"

	"github.com/gocurator/curator/internal/reason"
)

// An operation tries again after an error that may be over soon. While it does,
// those who wait for it, or for what a recipe makes of it, see nothing of that.

// OnTrouble returns a context under which operations tell of each error after
// which they try again, as the *OpError that they would have returned. A recipe
// whose users wait for something else than the operation can name the last one
// then, when they give up. A function that ctx has from another call is told,
// too. tell must not block. Several goroutines may call it at the same time.
func (e Extension) OnTrouble(ctx context.Context, tell func(error)) context.Context {
	if outer, ok := ctx.Value(troubleKey{}).(func(error)); ok {
		inner := tell
		tell = func(err error) { inner(err); outer(err) }
	}
	return context.WithValue(ctx, troubleKey{}, tell)
}

type troubleKey struct{}

// trouble is what an operation has tried again after.
type trouble struct{ last error }

// note takes down an error and tells of it.
func (t *trouble) note(ctx context.Context, op, path string, err error) {
	t.last = err
	if tell, ok := ctx.Value(troubleKey{}).(func(error)); ok {
		tell(&OpError{op, path, err})
	}
}

// named adds the last error to the error of a wait that ctx has ended.
func (t *trouble) named(ctx context.Context, err error) error {
	if t.last == nil || !reason.IsOfContext(ctx, err) || reason.Is(err, t.last) {
		return err
	}
	return fmt.Errorf("%w (last error: %w)", err, t.last)
}
