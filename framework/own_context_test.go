package framework_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// shutdown is a context of the user's own making, with an error of its own.
type shutdown struct{ context.Context }

var errShutdown = errors.New("shutting down")

func (c shutdown) Err() error {
	if c.Context.Err() != nil {
		return errShutdown
	}
	return nil
}

// A create that is given up hands over to the one who gets the answer. The
// client must know that whatever error the context has: else both of them end
// the node's reservation, and the process panics.
func TestCreateIsGivenUpUnderAContextOfTheUsersOwnMaking(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		late := srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DelayReply(2 * time.Second)})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Create(shutdown{ctx}, "/n", nil, framework.WithMode(framework.Ephemeral))
		require.ErrorIs(t, err, errShutdown)
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		time.Sleep(time.Minute)
		require.Equal(t, 1, late.Hits())

		_, err = c.Create(t.Context(), "/n", nil, framework.WithMode(framework.Ephemeral))
		require.Error(t, err, "the node is there, and can be created again after a delete")
		require.NoError(t, c.Delete(t.Context(), "/n", framework.AnyVersion))
		mustCreate(t, c, "/n", "", framework.WithMode(framework.Ephemeral))
	})
}
