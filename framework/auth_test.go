package framework_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

var (
	alice    = framework.WithAuth("digest", []byte("alice:secret"))
	ownersOK = framework.WithACL(zk.AuthACL(zk.PermAll)) // whoever is authenticated on the connection that creates
)

func TestAddedCredentialsHoldFromThenOn(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		owner := newClient(t, srv, alice)
		mustCreate(t, owner, "/hers", "x", ownersOK)
		require.NoError(t, c.AddAuth(t.Context(), "digest", []byte("alice:secret")))
		require.NoError(t, c.AddAuth(t.Context(), "digest", []byte("alice:secret")))
		for range 2 {
			_, _, err := c.Get(t.Context(), "/hers")
			require.NoError(t, err)
			srv.ClearRequests()
			srv.CutAll()
			time.Sleep(3 * time.Second)
		}
		require.Equal(t, 2, srv.CountRequests(zkinside.OpAuth), "once for each client")
	})
}

// The connection is lost after the server has taken them: the next one must
// have them all the same.
func TestAddAuthSurvivesALostReply(t *testing.T) {
	for _, fault := range []zktest.Action{zktest.DropRequest(), zktest.DropReply(), zktest.Blackhole()} {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			owner := newClient(t, srv, alice)
			mustCreate(t, owner, "/hers", "x", ownersOK)
			srv.Inject(zktest.Rule{Op: zkinside.OpAuth, Times: 1, Do: fault})
			require.NoError(t, c.AddAuth(t.Context(), "digest", []byte("alice:secret")))
			_, _, err := c.Get(t.Context(), "/hers")
			require.NoError(t, err)
		})
	}
}

func TestAddedCredentialsThatAreRefusedAreNotKept(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		err := c.AddAuth(t.Context(), "nonsense", nil)
		require.ErrorIs(t, err, zk.ErrAuthFailed)
		_, _, err = c.Get(t.Context(), "/")
		require.NoError(t, err)
		require.Equal(t, 1, srv.CountRequests(zkinside.OpAuth))
	})
}

// Servers do not count auth requests as a sign of life.
func TestSessionThatOnlyAuthenticatesEndsBeforeTheServerDeletesItsNodes(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		n := mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
		time.Sleep(pingInterval - time.Millisecond) // just before the next ping
		require.NoError(t, c.AddAuth(t.Context(), "digest", []byte("alice:secret")))
		srv.BlackholeAll()
		<-n.Session.Context().Done()
		_, there := srv.Node("/e")
		require.True(t, there)
	})
}

func TestCredentialsThatCannotBeMeantAreRefused(t *testing.T) {
	for scheme, auth := range map[string]string{"": "x", "digest": "no-password"} {
		_, err := framework.New("host", framework.WithAuth(scheme, []byte(auth)))
		var invalid *framework.ConfigError
		require.ErrorAs(t, err, &invalid)
		bubble(t, func(t *testing.T, _ *zktest.Server, c *framework.Client) {
			require.ErrorIs(t, c.AddAuth(t.Context(), scheme, []byte(auth)), zk.ErrBadArguments)
		})
	}
}
