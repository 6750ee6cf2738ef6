package framework

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a session may have made is kept in mind until the next one has something to
// keep in mind.
func TestNodesNotFoundOutAboutAreForgottenWithTheirSession(t *testing.T) {
	all := newReservations()
	giveUp := func(path string, s *Session) {
		r, _ := all.tryReserve(path)
		r.giveUp(s)
	}
	old, now := &Session{epoch: 1}, &Session{epoch: 2}
	for i := range 100 {
		giveUp(fmt.Sprint("/old/", i), old)
	}
	require.Len(t, all.unknown, 100)
	giveUp("/now", now)
	giveUp("/late", old)
	require.Len(t, all.unknown, 1)
	r, _ := all.tryReserve("/now")
	require.Equal(t, now.epoch, r.hidden)
}
