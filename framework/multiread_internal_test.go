package framework

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/testing/zktest"
)

// A connection ends with the probe, and the next one may be there before the
// caller hears of that. The server of that one was not asked yet. So the multiRead
// is tried again, and nothing is taken for a refusal.
func TestMultiReadBehindALostProbeIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := New(srv.Addr(), WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		c.multiReads.answeredWith(proto.CodeOK)
		srv.Inject(zktest.Rule{Op: zktest.OpRemoveWatches, Do: zktest.DropRequest()})
		require.True(t, retryable(s.probeMultiRead(t.Context())))
		_, _, err = Extend(c).MultiRead(t.Context(), "/")
		require.NoError(t, err)
	})
}

// Connections also end with multiReads by accident. A client that lives for long
// does not give up for what has happened long ago.
func TestLostMultiReadsAreForgottenADayLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m lostMultiReads
		lose := func(paths int) {
			q := proto.MultiRead(slices.Repeat([]string{"/"}, paths)...)
			m.endedWith([]transport.Unanswered{{Request: onWire(q)}})
		}
		m.answeredWith(proto.CodeOK)
		lose(200)
		require.True(t, m.allows(100))
		require.False(t, m.allows(101))
		for range 4 {
			require.False(t, m.hasGivenUp())
			lose(2)
		}
		time.Sleep(lossesForgotten)
		require.True(t, m.hasGivenUp())
		time.Sleep(time.Second)
		require.False(t, m.hasGivenUp())
		require.True(t, m.allows(200))
	})
}

// A connection ends with a multiRead that is no longer than one that was answered
// before. Its length is not likely to be the reason, unless that happens again.
func TestLostMultiReadThatIsNotLongSaysNothingOfTheLength(t *testing.T) {
	var m lostMultiReads
	lose := func() {
		q := proto.MultiRead(slices.Repeat([]string{"/"}, 200)...)
		m.endedWith([]transport.Unanswered{{Request: onWire(q)}})
	}
	m.answeredWith(proto.CodeOK)
	m.hasRead(200)
	lose()
	require.True(t, m.allows(200))
	lose()
	require.False(t, m.allows(200))
}
