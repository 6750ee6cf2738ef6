package zktest

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// reconfigurable runs a test of an ensemble of three and some spare members.
func reconfigurable(t *testing.T, spares int, test func(t *testing.T, ens *Ensemble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, StartEnsemble(t, 3, WithReconfig(), WithSpareMembers(spares), WithSuperUser(superUser)))
	})
}

// operator returns a client that may reconfigure.
func operator(t *testing.T, m *Member) *raw {
	t.Helper()
	c := login(t, m.Server)
	require.Equal(t, wire.OK, c.call(wire.OpAuth, 0, "digest", []byte(superUser)).code)
	return c
}

func (c *raw) reconfig(joining, leaving string) wire.Code {
	c.t.Helper()
	return c.call(wire.OpReconfig, joining, leaving, []byte(nil), int64(-1)).code
}

func joining(id int, role string) string {
	return fmt.Sprintf("server.%d=127.0.0.1:%d:%d:%s;%d", id, 20000+id, 30000+id, role, id)
}

func modes(ens *Ensemble) (modes []string) {
	for _, m := range ens.Members() {
		modes = append(modes, m.Mode())
	}
	return modes
}

func TestSpareMembersJoin(t *testing.T) {
	reconfigurable(t, 2, func(t *testing.T, ens *Ensemble) {
		require.Equal(t, ens.Members()[0].Addr()+","+ens.Members()[1].Addr()+","+ens.Members()[2].Addr(), ens.ConnectString())
		c := operator(t, ens.Members()[3])
		require.Equal(t, wire.ErrNewConfigNoQuorum, c.reconfig(joining(7, "participant")+","+joining(8, "participant")+","+joining(9, "participant"), ""))
		require.Equal(t, wire.OK, c.reconfig(joining(4, "participant")+","+joining(5, "participant"), ""))
		ens.Members()[0].Stop()
		ens.Members()[1].Stop()
		synctest.Wait()
		require.Same(t, ens.Members()[2], ens.Leader(), "three of five voters are left")
	})
}

func TestObserversFollowWithoutAVote(t *testing.T) {
	reconfigurable(t, 1, func(t *testing.T, ens *Ensemble) {
		c := operator(t, ens.Members()[0])
		atSpare := login(t, ens.Members()[3].Server)
		require.Equal(t, wire.OK, c.reconfig(joining(4, "observer"), ""))
		atSpare.requireClosed() // it begins anew in its part
		synctest.Wait()
		require.Equal(t, []string{"follower", "follower", "leader", "observer"}, modes(ens))
		login(t, ens.Members()[3].Server).create("/seen", 0)
		_, seen := ens.Members()[0].Node("/seen")
		require.True(t, seen)
		ens.Members()[0].Stop()
		ens.Members()[1].Stop()
		time.Sleep(time.Minute)
		require.Nil(t, ens.Leader(), "the observer is not counted")
	})
}
