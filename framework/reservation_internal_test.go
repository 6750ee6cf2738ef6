package framework

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a session may have made is kept in mind for no longer than the session.
func TestNodesNotFoundOutAboutAreForgottenWithTheirSession(t *testing.T) {
	all := newReservations()
	giveUp := func(path string, s *Session) {
		r, _ := all.tryReserve(path)
		r.giveUp(s)
	}
	session := func() (*Session, context.CancelFunc) {
		ctx, end := context.WithCancel(t.Context())
		return &Session{ctx: ctx}, end
	}
	old, end := session()
	for i := range 100 {
		giveUp(fmt.Sprint("/old/", i), old)
	}
	require.Len(t, all.unknown, 100)
	end()
	now, _ := session()
	giveUp("/now", now)
	giveUp("/late", old)
	require.Len(t, all.unknown, 1)
	r, _ := all.tryReserve("/now")
	require.Equal(t, now, r.hidden)
}
