package framework

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

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
		srv.Inject(zktest.Rule{Op: zktest.OpRemoveWatches, Do: zktest.DropRequest()})
		require.True(t, retryable(s.probeMultiRead(t.Context())))
		_, _, err = Extend(c).MultiRead(t.Context(), "/")
		require.NoError(t, err)
	})
}
