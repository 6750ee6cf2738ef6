package seat

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

func parks(cfg *Config) { cfg.MaxReuses, cfg.Idle = 100, time.Hour }

// A lock that stays in the process is given up as soon as another contender queues.
// Its next goroutine queues behind that.
func TestParkedSeatIsGivenUpForOthers(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		first := acquire(t, mutex(c, parks))
		node := first.won().Path()
		s := first.won().Hold().seat
		first.release()
		require.Equal(t, Parked, s.State())
		again := acquire(t, mutex(c, parks))
		require.Equal(t, node, again.won().Path())
		again.release()

		other := acquire(t, mutex(connect(t, srv)))
		other.won()
		require.Equal(t, Gone, s.State())
		require.Zero(t, lanesOf(c))
		next := acquire(t, mutex(c, parks))
		require.True(t, next.waits())
		other.release()
		require.NotEqual(t, node, next.won().Path())
		next.release()
	})
}

// The session of a parked seat ends. Nobody gets it any more, and it does not count any more.
func TestParkedSeatThatIsLostLeavesAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		first := acquire(t, mutex(c, parks))
		s := first.won().Hold().seat
		first.release()
		require.EqualValues(t, 1, parkedNow.Load())
		expire(srv, s)
		synctest.Wait()
		require.Equal(t, Gone, s.State())
		require.Zero(t, parkedNow.Load())
		require.Zero(t, lanesOf(c))
	})
}

// A process closes clients and makes others. What it counts is for all of them.
func TestParkedSeatOfAClosedClientDoesNotCount(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, _ *framework.Client) {
		c := connect(t, srv)
		first := acquire(t, mutex(c, parks))
		first.won()
		first.release()
		require.EqualValues(t, 1, parkedNow.Load())
		require.NoError(t, c.Close())
		synctest.Wait()
		require.Zero(t, parkedNow.Load())
	})
}
