package leader_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
)

// The error of a selector names the leadership that was lost. It does not name
// the release of the lease, because a selector's user never sees that.
func TestSelectorsErrorNamesTheLeadershipThatWasLost(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		c, _ := w.Connect(t)
		failed := errors.New("work failed")
		for _, of := range []struct {
			work error
			text string
		}{
			{nil, "lead " + path + ": session lost"},
			{failed, "work failed\nlead " + path + ": session lost"},
		} {
			err := leader.NewSelector(c, path).Run(w.Patience(t), func(ctx context.Context) error {
				w.Fake.Session(c.SessionID()).Expire()
				<-ctx.Done()
				return of.work
			})
			require.ErrorIs(t, err, framework.ErrSessionLost)
			require.Equal(t, of.work != nil, errors.Is(err, failed))
			require.Regexp(t, "^"+of.text, err.Error())
		}
	})
}
