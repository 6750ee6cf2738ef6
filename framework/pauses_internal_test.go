package framework

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/transport"
)

func TestSessionBackoff(t *testing.T) {
	const moment, while = time.Millisecond, time.Minute
	s := newSessionBackoff()
	for range 3 {
		require.Zero(t, s.after(while), "it has lived")
		require.Zero(t, s.after(moment), "the first loss")
		require.Less(t, s.after(moment), 2*shortestSessionPause, "the pauses begin anew")
		for range 20 {
			s.after(moment)
		}
		require.Greater(t, s.after(moment), longestSessionPause/3)
		require.Less(t, s.after(moment), 2*longestSessionPause)
	}
	s.after(while)
	require.Equal(t, longestRoundPause, s.after(0), "it was never connected")
}

func TestRefusal(t *testing.T) {
	refused := error(&transport.AuthError{Scheme: "digest", Code: -115})
	down := errors.New("down")
	r := newRefusal()
	round := func(attempts ...error) (failing, begins bool, pause time.Duration) {
		for _, err := range attempts {
			r.attempted(err)
		}
		pause, why := r.roundOver()
		select {
		case <-r.signal:
			failing = true
		default:
		}
		return failing, why != nil, pause
	}
	for range 3 {
		failing, _, pause := round(down, down)
		require.False(t, failing, "nobody refuses")
		require.Zero(t, pause)

		failing, _, _ = round(refused, nil)
		require.False(t, failing, "somebody lets us in")

		failing, begins, pause := round(refused, down)
		require.True(t, failing)
		require.True(t, begins)
		require.Less(t, pause, 2*shortestRefusedPause, "the pauses begin anew")
		for range 10 {
			failing, begins, pause = round(down, refused)
			require.True(t, failing)
			require.False(t, begins, "it is told once")
		}
		require.InDelta(t, longestRefusedPause, pause, float64(longestRefusedPause)/2)

		failing, _, _ = round(down, down)
		require.False(t, failing, "the one that refuses is down")
		round(refused)
		r.attempted(nil)
		select {
		case <-r.signal:
			t.Fatal("there is a connection")
		default:
		}
	}
}
