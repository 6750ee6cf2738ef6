package framework_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/testing/zktest"
)

func TestVersionedSetIsFoundOutAndNeverAppliedTwice(t *testing.T) {
	for name, faults := range map[string][]zktest.Rule{
		"request lost": {{Op: zktest.OpSetData, Do: zktest.DropRequest()}},
		"reply lost":   {{Op: zktest.OpSetData, Do: zktest.DropReply()}},
		"reply muted":  {{Op: zktest.OpSetData, Do: zktest.BlackholeReply()}},
		"reply lost, and the reading": {
			{Op: zktest.OpSetData, Do: zktest.DropReply()}, {Op: zktest.OpMulti, Do: zktest.DropReply()}, {Op: zktest.OpGetData, Do: zktest.DropReply()}},
		"request lost, then reply lost": {
			{Op: zktest.OpSetData, Do: zktest.DropRequest()}, {Op: zktest.OpSetData, After: 1, Do: zktest.DropReply()}},
	} {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			mustCreate(t, c, "/n", "old")
			for _, r := range faults {
				srv.Inject(r)
			}
			stat, err := c.Set(t.Context(), "/n", []byte("new"), 0)
			require.NoError(t, err, name)
			require.EqualValues(t, 1, stat.Version, name)
			node, _ := srv.Node("/n")
			require.EqualValues(t, 1, node.Stat.Version, name)
			require.Equal(t, node.Stat.Mzxid, stat.Mzxid)
			require.Equal(t, "new", string(node.Data))
		})
	}
}

func TestVersionedSetThatCannotBeFoundOutIsOfUnknownOutcome(t *testing.T) {
	for name, meanwhile := range map[string]func(t *testing.T, other *framework.Client){
		"somebody wrote after us": func(t *testing.T, other *framework.Client) {
			_, err := other.Set(t.Context(), "/n", []byte("theirs"), framework.AnyVersion)
			require.NoError(t, err)
		},
		"somebody deleted the node": func(t *testing.T, other *framework.Client) {
			require.NoError(t, other.Delete(t.Context(), "/n", framework.AnyVersion))
		},
	} {
		for _, fault := range []zktest.Action{zktest.DropReply(), zktest.DropRequest()} {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				other := another(t, srv)
				mustCreate(t, c, "/n", "old")
				srv.Inject(zktest.Rule{Op: zktest.OpSetData, Session: c.SessionID(), Do: fault})
				srv.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.Call(func(zktest.Request) { meanwhile(t, other) })})
				stat, err := c.Set(t.Context(), "/n", []byte("new"), 0)
				require.ErrorIs(t, err, framework.ErrOutcomeUnknown, name)
				require.Nil(t, stat)
			})
		}
	}
}

func TestVersionedSetToTheSameDataBySomebodyElseIsNotToldFromOurs(t *testing.T) {
	// Version + 1 and equal data is all that can be known. A counter must add
	// something of its own to its data, or two writers of the same number are
	// both told that they have counted.
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		other := another(t, srv)
		mustCreate(t, c, "/n", "old")
		srv.Inject(zktest.Rule{Op: zktest.OpSetData, Session: c.SessionID(), Do: zktest.All(zktest.DropRequest(),
			zktest.Call(func(zktest.Request) { other.Set(t.Context(), "/n", []byte("new"), 0) }))})
		stat, err := c.Set(t.Context(), "/n", []byte("new"), 0)
		require.NoError(t, err)
		require.EqualValues(t, 1, stat.Version)
	})
}

func TestSetOfAnyVersionIsRepeated(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "old")
		srv.Inject(zktest.Rule{Op: zktest.OpSetData, Do: zktest.DropReply()})
		stat, err := c.Set(t.Context(), "/n", []byte("new"), framework.AnyVersion)
		require.NoError(t, err)
		require.EqualValues(t, 2, stat.Version)
	})
}

func TestSetThatGivesUpIsOfUnknownOutcome(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithRetry(retry.N(1, time.Millisecond)))
		mustCreate(t, c, "/n", "")
		srv.Inject(zktest.Rule{Op: zktest.OpSetData, Times: -1, Do: zktest.DropReply()})
		for _, version := range []int32{framework.AnyVersion, 99} {
			srv.Inject(zktest.Rule{Op: zktest.OpMulti, Times: -1, Do: zktest.DropReply()})
			_, err := c.Set(t.Context(), "/n", nil, version)
			require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		}
	})
}

func TestDeleteIsRepeatedAfterALostReply(t *testing.T) {
	for _, fault := range []zktest.Action{zktest.DropRequest(), zktest.DropReply()} {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			mustCreate(t, c, "/n", "")
			srv.Inject(zktest.Rule{Op: zktest.OpDelete, Do: fault})
			require.NoError(t, c.Delete(t.Context(), "/n", framework.AnyVersion))
			srv.AssertNoNodes(t, "/")
		})
	}
}

func TestVersionedDeleteWhoseReplyIsLostIsOfUnknownOutcome(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		srv.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.DropReply()})
		err := c.Delete(t.Context(), "/n", 0)
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		require.ErrorIs(t, err, zk.ErrNoNode)
	})
}

func TestVersionedDeleteWhoseRequestIsLostIsRepeated(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		srv.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.DropRequest()})
		require.NoError(t, c.Delete(t.Context(), "/n", 0))
		srv.AssertNoNodes(t, "/")
	})
}

func TestDeleteOfAMissingNodeIsNoNodeAlsoAfterALostRead(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.ErrorIs(t, c.Delete(t.Context(), "/n", framework.AnyVersion), zk.ErrNoNode)
		require.NoError(t, c.Delete(t.Context(), "/n", framework.AnyVersion, framework.WithGuarantee()), "guaranteed: it is gone")
	})
}

// A release during an outage, then a reconnect in the same session, frees
// the lock.
func TestGuaranteedDeleteIsDoneAfterAnOutageInTheSameSession(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithConnectionTimeout(time.Second))
		n := mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
		srv.RefuseConnections(true)
		srv.CutAll()
		time.Sleep(time.Second)
		err := c.Delete(t.Context(), n.Path, framework.AnyVersion, framework.WithGuarantee())
		require.ErrorIs(t, err, framework.ErrNotConnected)
		srv.RefuseConnections(false)
		time.Sleep(3 * time.Second)
		require.Equal(t, n.Session.ID(), c.SessionID())
		srv.AssertNoNodes(t, "/")
	})
}

func TestGuaranteedDeleteOutlastsEveryOutage(t *testing.T) {
	t.Parallel()
	outage := thorough.Size(24*time.Hour, time.Hour)
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		srv.Inject(zktest.Rule{Op: zktest.OpDelete, Times: 50, Do: zktest.DropRequest()})
		srv.RefuseConnections(true)
		srv.CutAll()
		require.Error(t, c.Delete(t.Context(), "/n", framework.AnyVersion, framework.WithGuarantee()))
		time.Sleep(outage)
		srv.RefuseConnections(false)
		time.Sleep(time.Hour) // 50 more failures, up to a minute apart
		srv.AssertNoNodes(t, "/")
	})
}

func TestGuaranteedDeleteOnACancelledContextIsDone(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := c.Delete(ctx, "/n", framework.AnyVersion, framework.WithGuarantee())
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, srv.WaitChildren(within(t, time.Second), "/", 1))
	})
}

// CURATOR-42, CURATOR-10: only errors that may pass are retried.
func TestGuaranteedDeleteThatTheServerRefusesIsGivenUp(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		mustCreate(t, c, "/n/child", "")
		require.ErrorIs(t, c.Delete(t.Context(), "/n", framework.AnyVersion, framework.WithGuarantee()), zk.ErrNotEmpty)
		time.Sleep(time.Minute)
		require.Equal(t, 1, srv.CountRequests(zktest.OpDelete))
	})
}
