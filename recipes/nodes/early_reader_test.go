package nodes

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/testing/zktest"
)

// A session is over, and nobody has told of that yet. A reader who begins then
// finds no node, and hears nothing of a loss before it.
func TestReaderWhoBeginsBehindTheEndOfTheSessionHearsOfNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		n := newNode(c, "/n", nil, newConfig(nil))
		n.life = follow.Life{Client: c, Run: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		require.NoError(t, n.life.Start())
		require.True(t, n.noteRegistered(&Registration{Path: "/n", Czxid: 1, Session: s}, n.until))
		there := n.Changes(t.Context())
		srv.Session(s.ID()).Expire()
		<-s.Context().Done()
		gone := n.Changes(t.Context())
		n.lost(1, framework.ErrSessionLost) // which AfterTrust would call
		n.end(ErrClosed)

		var told []Change
		for change := range there {
			told = append(told, change)
		}
		require.Len(t, told, 3)
		require.Equal(t, []State{Registered, Lost, Ended}, []State{told[0].State, told[1].State, told[2].State})
		require.ErrorIs(t, told[1].Err, framework.ErrSessionLost)
		told = nil
		for change := range gone {
			told = append(told, change)
		}
		require.Len(t, told, 1)
		require.Equal(t, Ended, told[0].State)
	})
}
