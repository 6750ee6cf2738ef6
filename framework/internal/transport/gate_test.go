package transport

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// reconnected returns the second connection of a link whose first has set watches on the paths.
func reconnected(t *testing.T, l *Link, paths ...string) (*Conn, *peer) {
	t.Helper()
	c, p := established(t, l, 7, 9*time.Second)
	for i, path := range paths {
		c.Write(getFrame(i+1, path, true))
		p.read()
		go p.write(answerFrame(i+1, 1, 0, "", stat[:]))
		_, err := c.readAll()
		require.NoError(t, err)
	}
	c.Close()
	return established(t, l, 7, 9*time.Second)
}

func TestRequestsWaitUntilTheWatchesAreSetAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := reconnected(t, NewLink(), "/a", "/b")
		c.Write(getFrame(10, "/a", false))
		c.Write(getFrame(11, "/a", false))
		require.True(t, p.silent())
		c.Write(frame(12, opSetWatches, int64(1), 2, "/a", "/b", 0, 0))
		c.Write(frame(13, 1, "/c", "", 0, 0))
		require.Equal(t, []int32{opSetWatches, opGetData, opGetData, 1}, p.readOps(4))
	})
}

func TestRequestsWaitForTheLastOfSeveralSetWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := reconnected(t, NewLink(), "/a", "/b", "/c")
		c.Write(getFrame(10, "/a", false))
		c.Write(frame(11, opSetWatches, int64(1), 2, "/a", "/b", 0, 0))
		require.Equal(t, []int32{opSetWatches}, p.readOps(1))
		require.True(t, p.silent())
		c.Write(frame(12, opSetWatches, int64(1), 1, "/c", 0, 0))
		require.Equal(t, []int32{opSetWatches, opGetData}, p.readOps(2))
	})
}

func TestNothingWaitsWithoutWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := reconnected(t, NewLink())
		c.Write(getFrame(10, "/a", false))
		require.Equal(t, []int32{opGetData}, p.readOps(1))
	})
}

func TestWatchThatHasFiredIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink()
		c, p := established(t, l, 7, 9*time.Second)
		c.Write(getFrame(1, "/a", true))
		p.read()
		go func() {
			p.write(answerFrame(1, 1, 0, "", stat[:]))
			p.write(answerFrame(-1, -1, 0, eventDataChanged, 3, "/a"))
		}()
		for range 2 {
			_, err := c.readAll()
			require.NoError(t, err)
		}
		c.Close()
		c, p = established(t, l, 7, 9*time.Second)
		c.Write(getFrame(10, "/a", false))
		require.Equal(t, []int32{opGetData}, p.readOps(1))
	})
}

func TestAuthPingsAndCloseDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := reconnected(t, NewLink(), "/a")
		c.Write(frame(10, opSetAuth, 0, "digest", "u:p"))
		c.Write(frame(11, opClose))
		require.Equal(t, []int32{opSetAuth, opClose}, p.readOps(2))
	})
}

func TestPingOpensTheGateAsALastResort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := reconnected(t, NewLink(), "/a")
		c.Write(getFrame(10, "/a", false))
		require.True(t, p.silent())
		c.Write(frame(-2, opPing))
		require.Equal(t, []int32{opPing, opGetData}, p.readOps(2))
	})
}

func TestHeldRequestsCountAsSentWhenTheyGoOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink()
		c, p := reconnected(t, l, "/a")
		begin := time.Now()
		c.Write(getFrame(10, "/a", false))
		time.Sleep(time.Second)
		c.Write(frame(11, opSetWatches, int64(1), 1, "/a", 0, 0))
		p.readOps(2)
		go p.write(answerFrame(10, 1, 0, "", stat[:]))
		_, err := c.readAll()
		require.NoError(t, err)
		require.Equal(t, time.Second, contactAfter(l, begin))
	})
}

func TestWithdrawalGoesOutBeforeWhatWasHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink()
		c, p := reconnected(t, l, "/a")
		l.Withdraw(Watch{"/a", Data})
		c.Write(getFrame(10, "/a", true)) // sets it again
		require.True(t, p.silent())
		c.Write(frame(11, opSetWatches, int64(1), 1, "/a", 0, 0))
		require.Equal(t, []int32{opSetWatches, opRemoveWatches, opGetData}, p.readOps(3))
	})
}
