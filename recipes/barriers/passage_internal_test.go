package barriers

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// lastMember is a layout, and its only member, whose round ends in the very moment
// in which the client is closed.
type lastMember struct {
	layout
	client *framework.Client
}

func (l lastMember) inside(*Passage) inside { return l }

func (l lastMember) stay(context.Context) error {
	go l.client.Close()
	<-framework.Extend(l.client).Context().Done()
	return nil
}

func (lastMember) resign(context.Context) error { return nil }

// All have left, and Leave says so, whatever comes just behind that.
func TestLeaveOfARoundThatEndsWithTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := curatortest.Connect(t, zktest.Start(t))
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		b := &DoubleBarrier{place: newPlace(c, "/b"), n: 1, layout: lastMember{client: c}}
		p, err := newPassage(t.Context(), &entry{DoubleBarrier: b, node: framework.Created{Path: "/b/a", Session: s}})
		require.NoError(t, err)
		require.NoError(t, p.Leave(t.Context()))
	})
}
