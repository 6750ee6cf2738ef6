package recipes_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/testing/zktest"
)

// The user's code ends the only goroutine. Nobody waits for what never comes.
func TestUsersCodeThatEndsTheGoroutineEndsALife(t *testing.T) {
	eachWaiting(t, func(t *testing.T, h *home, s subject) {
		var l *living
		answer := zktest.DelayReply(0)
		if s.retries {
			answer = zktest.DropReply()
		}
		if s.disturb == nil {
			h.exits.Store(true)
			l, _ = s.startAmid(t, h, answer)
		} else {
			l = s.start(t, h)
			synctest.Wait()
			h.exits.Store(true)
			amid := h.answers(s.asks, answer)
			s.disturb(t, h)
			time.Sleep(20 * time.Second)
			amid.Remove()
		}
		time.Sleep(20 * time.Second)
		require.False(t, h.exits.Load(), "nobody has called the user's code")
		synctest.Wait()
		require.True(t, recipetest.IsClosed(l.done))
		require.ErrorContains(t, l.err(), "has ended")
		require.ErrorContains(t, l.wait(recipetest.Within(t, time.Hour)), "has ended")
		begun := time.Now()
		l.close(recipetest.Within(t, time.Hour))
		require.Less(t, time.Since(begun), time.Minute)
		requireNothingLeft(t, h)
	})
}
