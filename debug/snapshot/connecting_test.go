package snapshot_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// Nothing was lost of a client that no server has ever accepted, whatever the
// state is called.
func TestAClientThatWasNeverConnectedIsConnecting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		host := srv.NewHost()
		host.Isolate()
		c, err := framework.New(srv.Addr(), framework.WithDialer(host.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		for _, after := range []time.Duration{0, time.Minute, time.Hour} {
			time.Sleep(after)
			s := one(t, c)
			require.True(t, s.State.NeverConnected)
			require.Nil(t, s.Session)
			require.Contains(t, asText(t, c), ": connecting, never connected\n", after)
		}
		require.Contains(t, asText(t, c), "cause: ")
		require.NotEqual(t, "initial", one(t, c).State.Name)

		host.Heal()
		require.NoError(t, c.WaitConnected(t.Context()))
		require.False(t, one(t, c).State.NeverConnected)
		require.Contains(t, asText(t, c), ": connected for 0s\n")
		host.Isolate()
		host.Disconnect()
		time.Sleep(time.Hour)
		require.False(t, one(t, c).State.NeverConnected)
		require.Contains(t, asText(t, c), ": lost for ")
	})
}
