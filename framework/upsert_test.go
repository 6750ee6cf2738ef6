package framework_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

func TestOrSetCreatesOrWrites(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		made := mustCreate(t, c, "/n", "one", framework.WithOverwrite(7))
		require.Equal(t, "/n", made.Path)
		written := mustCreate(t, c, "/n", "two", framework.WithOverwrite(0))
		require.Equal(t, "/n", written.Path)
		require.Equal(t, made.Czxid, written.Czxid, "the node is still the one that was made first")
		require.Equal(t, c.SessionID(), written.Session.ID())
		_, err := c.Create(t.Context(), "/n", []byte("three"), framework.WithOverwrite(0))
		require.ErrorIs(t, err, zk.ErrBadVersion)
		require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
		mustCreate(t, c, "/n", "four", framework.WithOverwrite(framework.AnyVersion))
		node, _ := srv.Node("/n")
		require.Equal(t, "four", string(node.Data))
		require.EqualValues(t, 2, node.Stat.Version)
	})
}

func TestOrSetWritesTheRootAndMakesParents(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		n := mustCreate(t, c, "/", "data", framework.WithOverwrite(framework.AnyVersion))
		require.Equal(t, "/", n.Path)
		node, _ := srv.Node("/")
		require.Equal(t, "data", string(node.Data))
		mustCreate(t, c, "/a/b", "", framework.WithOverwrite(framework.AnyVersion), framework.WithParents())
		require.Equal(t, []string{"b"}, srv.Children("/a"))
	})
}

// The node that is there when the call creates is gone when it writes.
func TestOrSetSurvivesNodesThatVanish(t *testing.T) {
	for _, times := range []int{1, 5} {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			srv.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/n", Times: times, Do: zktest.All(
				zktest.Call(func(zktest.Request) { srv.Create("/n", nil) }),
				zktest.CallAfter(func(zktest.Request) { srv.Delete("/n") }))})
			mustCreate(t, c, "/n", "ours", framework.WithOverwrite(framework.AnyVersion))
			node, _ := srv.Node("/n")
			require.Equal(t, "ours", string(node.Data))
		})
	}
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		inj := srv.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/n", Times: -1, Do: zktest.All(
			zktest.Call(func(zktest.Request) { srv.Create("/n", nil) }),
			zktest.CallAfter(func(zktest.Request) { srv.Delete("/n") }))})
		_, err := c.Create(t.Context(), "/n", nil, framework.WithOverwrite(framework.AnyVersion))
		require.ErrorIs(t, err, zk.ErrNoNode)
		require.Equal(t, 6, inj.Hits(), "it does not go on for ever")
	})
}

// The node has the data in the end, whatever is lost, and a version that was
// asked for is never passed over.
func TestOrSetWhoseReplyIsLostIsFoundOut(t *testing.T) {
	for _, exists := range []bool{false, true} {
		for _, version := range []int32{0, framework.AnyVersion} {
			for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpSetData} {
				for _, fault := range []zktest.Action{zktest.DropRequest(), zktest.DropReply()} {
					for _, with := range breakages {
						bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
							if exists {
								mustCreate(t, c, "/n", "old")
							}
							inj := srv.Inject(zktest.Rule{Op: op, Do: with(srv, c.SessionID(), fault)})
							n, err := c.Create(t.Context(), "/n", []byte("new"), framework.WithOverwrite(version))
							require.NoError(t, err)
							node, _ := srv.Node("/n")
							require.Equal(t, "new", string(node.Data))
							require.Equal(t, node.Stat.Czxid, n.Czxid)
							if version == 0 && exists {
								require.EqualValues(t, 1, node.Stat.Version)
							} else if version == 0 && inj.Hits() > 0 {
								require.Zero(t, node.Stat.Version)
							}
						})
					}
				}
			}
		}
	}
}

func TestOrSetThatIsOvertakenIsOfUnknownOutcome(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.All(zktest.DropReply(),
			zktest.CallAfter(func(zktest.Request) { srv.Set("/n", []byte("theirs")) }))})
		_, err := c.Create(t.Context(), "/n", []byte("ours"), framework.WithOverwrite(0))
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		require.ErrorIs(t, err, zk.ErrBadVersion)
	})
}

func TestIdempotentCreateAcceptsAnUntouchedEqual(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		made := mustCreate(t, another(t, srv), "/n", "same")
		n := mustCreate(t, c, "/n", "same", framework.WithIdempotence())
		require.Equal(t, made.Czxid, n.Czxid)
		_, err := c.Create(t.Context(), "/n", []byte("other"), framework.WithIdempotence())
		require.ErrorIs(t, err, zk.ErrNodeExists)
		require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
		require.NoError(t, srv.Set("/n", []byte("same")))
		_, err = c.Create(t.Context(), "/n", []byte("same"), framework.WithIdempotence())
		require.ErrorIs(t, err, zk.ErrNodeExists, "it was written since")
		mustCreate(t, c, "/n", "same", framework.WithIdempotence(), framework.WithOverwrite(0))
		node, _ := srv.Node("/n")
		require.EqualValues(t, 1, node.Stat.Version, "as this call would have left it")
	})
}

func TestIdempotentCreateWhoseReplyIsLost(t *testing.T) {
	for _, fault := range []zktest.Action{zktest.DropRequest(), zktest.DropReply()} {
		for _, with := range breakages {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: with(srv, c.SessionID(), fault)})
				n := mustCreate(t, c, "/n", "same", framework.WithIdempotence())
				node, _ := srv.Node("/n")
				require.Equal(t, node.Stat.Czxid, n.Czxid)
			})
		}
	}
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.All(zktest.DropReply(),
			zktest.CallAfter(func(zktest.Request) { srv.Set("/n", []byte("theirs")) }))})
		_, err := c.Create(t.Context(), "/n", []byte("ours"), framework.WithIdempotence())
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
	})
}

func TestIdempotentSetAcceptsItsEqual(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		stat, err := another(t, srv).Set(t.Context(), "/n", []byte("same"), 0)
		require.NoError(t, err)
		again, err := c.Set(t.Context(), "/n", []byte("same"), 0, framework.WithIdempotentSet())
		require.NoError(t, err)
		require.Equal(t, stat, again)
		for _, tc := range []struct {
			data    string
			version int32
		}{{"other", 0}, {"same", 2}, {"same", 7}} {
			stat, err = c.Set(t.Context(), "/n", []byte(tc.data), tc.version, framework.WithIdempotentSet())
			require.ErrorIs(t, err, zk.ErrBadVersion)
			require.Nil(t, stat)
		}
		_, err = c.Set(t.Context(), "/n", []byte("same"), 0)
		require.ErrorIs(t, err, zk.ErrBadVersion, "only if it is asked for")
	})
}

func TestCombinationsOfCreateOptionsThatMakeNoSense(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		for _, tc := range []struct {
			opts []framework.CreateOption
			want error
			text string
		}{
			{[]framework.CreateOption{framework.WithOverwrite(0), framework.WithProtection()}, zk.ErrBadArguments, "WithOverwrite and WithProtection"},
			{[]framework.CreateOption{framework.WithOverwrite(0), framework.WithMode(framework.PersistentSequential)}, zk.ErrBadArguments, "WithOverwrite with a sequential"},
			{[]framework.CreateOption{framework.WithOverwrite(0), framework.WithMode(framework.Ephemeral)}, zk.ErrBadArguments, "WithOverwrite with an ephemeral"},
			{[]framework.CreateOption{framework.WithIdempotence(), framework.WithProtection()}, zk.ErrBadArguments, "WithIdempotence and WithProtection"},
			{[]framework.CreateOption{framework.WithIdempotence(), framework.WithMode(framework.EphemeralSequential)}, zk.ErrBadArguments, "WithIdempotence with a sequential"},
			{[]framework.CreateOption{framework.WithIdempotence(), framework.WithMode(framework.Ephemeral)}, zk.ErrBadArguments, "WithIdempotence with an ephemeral"},
			{[]framework.CreateOption{framework.WithParentACL(zk.WorldACL(1))}, zk.ErrBadArguments, "without WithParents"},
			{[]framework.CreateOption{framework.WithParentACL(nil), framework.WithParents()}, zk.ErrInvalidACL, "parents"},
		} {
			_, err := c.Create(t.Context(), "/n", nil, tc.opts...)
			require.ErrorIs(t, err, tc.want)
			require.ErrorContains(t, err, tc.text)
		}
		require.Empty(t, ops(srv), "nothing was sent")
	})
}

// Two callers of one client create the same plain ephemeral node, and what they
// are told is lost. One of them has made it.
func TestPlainEphemeralIsMadeByOneCallerOnly(t *testing.T) {
	for name, lost := range map[string]zktest.Rule{
		"nothing":          {Op: zktest.OpCreate, After: 99, Do: zktest.DropReply()},
		"the first reply":  {Op: zktest.OpCreate, Do: zktest.DropReply()},
		"the second reply": {Op: zktest.OpCreate, After: 1, Do: zktest.DropReply()},
		"both replies":     {Op: zktest.OpCreate, Times: 2, Do: zktest.DropReply()},
		"three replies":    {Op: zktest.OpCreate, Times: 3, Do: zktest.DropReply()},
		"both requests":    {Op: zktest.OpCreate, Times: 2, Do: zktest.DropRequest()},
	} {
		for _, second := range []string{"create", "transaction"} {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				srv.Inject(lost)
				ephemeral := framework.WithMode(framework.Ephemeral)
				errs := make(chan error, 2)
				go func() {
					_, err := c.Create(t.Context(), "/e", nil, ephemeral)
					errs <- err
				}()
				go func() {
					if second == "create" {
						_, err := c.Create(t.Context(), "/e", nil, ephemeral)
						errs <- err
					} else {
						_, err := c.Transaction(t.Context(), framework.CreateOp("/e", nil, ephemeral))
						errs <- err
					}
				}()
				first, second := <-errs, <-errs
				if first != nil {
					first, second = second, first
				}
				require.NoError(t, first, name)
				require.ErrorIs(t, second, zk.ErrNodeExists, name)
			})
		}
	}
}

// The first caller is not told what became of its node, and leaves. The second
// must not be told that it is its own.
func TestPlainEphemeralOfACallerThatHasGoneIsNotTheNextOnes(t *testing.T) {
	for name, fault := range map[string]zktest.Action{
		"slow": zktest.DelayReply(3 * time.Second), "muted": zktest.BlackholeReply(),
	} {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			ephemeral := framework.WithMode(framework.Ephemeral)
			srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: fault})
			_, err := c.Create(within(t, time.Second), "/e", nil, ephemeral)
			require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
			srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DropReply()})
			_, err = c.Create(t.Context(), "/e", nil, ephemeral)
			require.ErrorIs(t, err, zk.ErrNodeExists, name)
		})
	}
}

// That holds as well if the client could not find out what has become of the node:
// it has no right to look, or the servers fail again and again.
func TestPlainEphemeralThatCouldNotBeLookedAtIsNotTheNextOnes(t *testing.T) {
	for name, look := range map[string]zktest.Rule{
		"no right to look": {Op: zktest.OpExists, Do: zktest.Fail(zktest.ErrNoAuth)},
		"looks that fail":  {Op: zktest.OpExists, Times: 20, Do: zktest.Fail(zktest.ErrSystem)},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				ctx, cancel := context.WithCancel(t.Context())
				srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.All(zktest.Call(func(zktest.Request) { cancel() }), zktest.DropReply())})
				looks := srv.Inject(look)
				_, err := c.Create(ctx, "/e", []byte("first"), framework.WithMode(framework.Ephemeral))
				require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
				time.Sleep(10 * time.Minute)
				require.Positive(t, looks.Hits())
				looks.Remove()

				srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DropReply()})
				_, err = c.Create(t.Context(), "/e", []byte("second"), framework.WithMode(framework.Ephemeral))
				require.ErrorIs(t, err, zk.ErrNodeExists)
				require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
			})
		})
	}
}

// A server that lags, and fails at the transaction ahead of the look, tells of
// nothing that is as new as the node.
func TestPlainEphemeralThatALaggingServerHidesIsNotTheNextOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3)
		c, err := framework.New(ens.ConnectString(), framework.WithDialer(ens.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		mustCreate(t, c, "/n", "")
		session := ens.Session(c.SessionID())
		front, behind := ens.Leader(), ens.Followers()[0]
		require.True(t, session.MoveTo(front))
		require.NoError(t, ens.WaitFor(t.Context(), func() bool { return session.Member() == front }))
		require.NoError(t, c.WaitConnected(t.Context()))
		require.NoError(t, ens.WaitAgreement(t.Context()))
		require.NoError(t, behind.Lag(zktest.Forever))

		fails := ens.Inject(zktest.Rule{Op: zktest.OpMulti, Times: 20, Do: zktest.Fail(zktest.ErrSystem)})
		ctx, cancel := context.WithCancel(t.Context())
		ens.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.All(zktest.CallAfter(func(zktest.Request) {
			cancel()
			session.MoveTo(behind)
		}), zktest.DropReply())})
		create := func(ctx context.Context, path, data string) error {
			_, err := c.Create(ctx, path, []byte(data), framework.WithMode(framework.Ephemeral))
			return err
		}
		require.ErrorIs(t, create(ctx, "/e", "first"), framework.ErrOutcomeUnknown)
		time.Sleep(10 * time.Minute)
		require.Equal(t, 20, fails.Hits())
		require.Equal(t, behind, session.Member())

		require.NoError(t, behind.Lag(0))
		for range 2 { // the second does not learn whose the node is, either
			ens.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DropReply()})
			require.ErrorIs(t, create(t.Context(), "/e", "second"), zk.ErrNodeExists)
		}
		require.NoError(t, c.Delete(t.Context(), "/e", framework.AnyVersion))
		require.NoError(t, create(t.Context(), "/e", "third"))
		require.NoError(t, c.Delete(t.Context(), "/e", framework.AnyVersion))
		ens.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DropReply()})
		require.NoError(t, create(t.Context(), "/e", "fourth"), "it is newer than one that is known")
	})
}

func TestPlainEphemeralMayBeMadeAgainAfterItsDeletionOrItsSession(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		ephemeral := framework.WithMode(framework.Ephemeral)
		for range 3 {
			srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DropReply()})
			n := mustCreate(t, c, "/e", "", ephemeral)
			require.NoError(t, c.Delete(t.Context(), n.Path, framework.AnyVersion))
			n = mustCreate(t, c, "/e", "", ephemeral)
			srv.Session(c.SessionID()).Expire()
			<-n.Session.Context().Done()
		}
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.All(zktest.BlackholeReply(),
			zktest.CallAfter(func(zktest.Request) { srv.Session(c.SessionID()).Expire() }))})
		_, err := c.Create(within(t, time.Millisecond), "/e", nil, ephemeral)
		require.Error(t, err)
		mustCreate(t, c, "/e", "", ephemeral)
	})
}

func TestWaitForAnotherCallersEphemeralIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		ephemeral := framework.WithMode(framework.Ephemeral)
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.BlackholeReply()})
		_, err := c.Create(within(t, time.Millisecond), "/e", nil, ephemeral)
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		srv.RefuseConnections(true)
		srv.CutAll()

		begin := time.Now()
		_, err = c.Create(within(t, time.Second), "/e", nil, ephemeral)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, framework.ErrOutcomeUnknown, "nothing was sent")
		require.Equal(t, time.Second, time.Since(begin))
		_, err = c.Create(context.Background(), "/e", nil, ephemeral)
		require.ErrorIs(t, err, framework.ErrNotConnected)
		require.Equal(t, 16*time.Second, time.Since(begin))

		done := make(chan error, 1)
		go func() { _, err := c.Create(context.Background(), "/e", nil, ephemeral); done <- err }()
		time.Sleep(time.Second)
		require.NoError(t, c.Close())
		require.ErrorIs(t, <-done, framework.ErrClosed)
	})
}
