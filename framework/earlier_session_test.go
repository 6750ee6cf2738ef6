package framework_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// A server creates a session, and the connection breaks before the first
// answer. The server that takes the session over lags behind. The client does
// not read there what is older than what it saw in the session before.
//
// Promise: A new session reads nothing older than what the client has already seen.
func TestNewSessionDoesNotGoBackBehindTheOneBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3)
		late := ens.Members()[0]
		others := ens.Members()[1:]
		late.RefuseConnections(true)
		c, err := framework.New(ens.ConnectString(), framework.WithDialer(ens.Dialer()), framework.WithSessionTimeout(time.Minute))
		require.NoError(t, err)
		defer c.Close()
		mustCreate(t, c, "/n", "old")
		late.Lag(5 * time.Second)
		_, err = c.Set(t.Context(), "/n", []byte("new"), framework.AnyVersion)
		require.NoError(t, err)

		before := c.SessionID()
		lost := ens.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.All(
			zktest.Call(func(zktest.Request) {
				late.RefuseConnections(false)
				for _, m := range others {
					m.RefuseConnections(true)
				}
			}), zktest.DropReply())})
		require.True(t, others[0].Session(before).Expire())
		data, _, err := c.Get(t.Context(), "/n")
		require.NoError(t, err)
		require.Equal(t, 1, lost.Hits())
		require.NotEqual(t, before, c.SessionID())
		require.Equal(t, "new", string(data))
	})
}
