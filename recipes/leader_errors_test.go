package recipes_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
)

// What a selector says of a leadership that was lost reads as such: the release of its lease is nothing that its user knows.
func TestSelectorsErrorNamesTheLeadershipThatWasLost(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := path(t)
		c, _ := w.connect(t)
		failed := errors.New("work failed")
		for _, of := range []struct {
			work error
			text string
		}{
			{nil, "lead " + path + ": session lost"},
			{failed, "work failed\nlead " + path + ": session lost"},
		} {
			err := recipes.NewLeaderSelector(c, path).Run(w.patience(t), func(ctx context.Context) error {
				w.fake.ExpireSession(c.SessionID())
				<-ctx.Done()
				return of.work
			})
			require.ErrorIs(t, err, framework.ErrSessionLost)
			require.Equal(t, of.work != nil, errors.Is(err, failed))
			require.Regexp(t, "^"+of.text, err.Error())
		}
	})
}
