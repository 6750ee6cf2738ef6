package curatortest_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// closeShared are functions that close what tests share. Without the build tag
// real, tests share nothing.
var closeShared []func() error

func TestMain(m *testing.M) { leaktest.Main(m, closeShared...) }

func TestConnectToAServer(t *testing.T) {
	srv := zktest.Start(t)
	t.Run("inner", func(t *testing.T) {
		c := curatortest.Connect(t, srv)
		require.Equal(t, c.SessionID(), srv.Sessions()[0].ID)
	})
	require.Empty(t, srv.Sessions(), "the client was not closed with its test")
}

func TestConnectInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c := curatortest.Connect(t, srv, framework.WithSessionTimeout(time.Hour))
		time.Sleep(24 * time.Hour)
		_, err := c.Create(t.Context(), "/a", nil)
		require.NoError(t, err)
	})
}

func TestConnectToAnEnsemble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3)
		curatortest.ConnectEnsemble(t, ens)
		curatortest.Connect(t, ens.Members()[1])
		require.Len(t, ens.Leader().Sessions(), 2)
	})
}

// A client of a host uses the network of the host, and not the server's network.
func TestConnectFromAHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		host := srv.NewHost()
		c := curatortest.Connect(t, srv, framework.WithDialer(host.Dialer()))
		lost := c.SessionID()
		host.LoseSessions()
		require.NoError(t, srv.WaitFor(t.Context(), func() bool { return c.SessionID() != lost }))
	})
}

func TestConnectSaysWhyItFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		srv.Stop()
		for name, opts := range map[string][]framework.Option{
			"not connected":   nil,
			"session timeout": {framework.WithSessionTimeout(-1)},
		} {
			failed := &failure{TB: t}
			require.Nil(t, curatortest.Connect(failed, srv, opts...))
			require.ErrorContains(t, failed, name)
		}
	})
}

// failure is a test that has failed, and goes on.
type failure struct {
	testing.TB
	text string
}

func (f *failure) Fatalf(format string, args ...any) { f.text = fmt.Sprintf(format, args...) }

func (f *failure) Error() string { return f.text }
