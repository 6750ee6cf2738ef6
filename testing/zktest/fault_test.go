package zktest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

func TestDropRequest(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		inj := srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DropRequest()})
		_, err := c.Create("/a", nil, 0, open)
		require.ErrorIs(t, err, zk.ErrConnectionClosed)
		<-inj.Done()
		require.Equal(t, 1, inj.Hits())
		require.Empty(t, srv.Tree())
		c.await(t, zk.StateHasSession)
		_, err = c.Create("/a", nil, 0, open)
		require.NoError(t, err, "a rule hits once by default")
	})
}

// The server stalls with a request. It goes on with it later, in the client's
// next session, as long as it knows the one before.
func TestHoldRequest(t *testing.T) {
	for name, tc := range map[string]struct {
		meanwhile func(srv *zktest.Server, session int64)
		applied   bool
	}{
		"the session lives":            {func(*zktest.Server, int64) {}, false}, // over another connection
		"the client has another":       {func(srv *zktest.Server, session int64) { zkinside.Of(srv).ReplaceSession(session) }, true},
		"the session has ended":        {func(srv *zktest.Server, session int64) { srv.Session(session).Expire() }, false},
		"the server has ended":         {func(srv *zktest.Server, session int64) { zkinside.Of(srv).ReplaceSession(session); srv.Stop() }, false},
		"and the client does not come": {func(srv *zktest.Server, _ int64) { srv.RefuseConnections(true) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
				session := c.SessionID()
				srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.All(zkinside.HoldRequest(5*time.Second).(zktest.Action),
					zktest.Call(func(zktest.Request) { tc.meanwhile(srv, session) }))})
				_, err := c.Create("/a", nil, 0, open)
				require.ErrorIs(t, err, zk.ErrConnectionClosed)
				time.Sleep(5*time.Second - 1)
				require.Empty(t, srv.Tree())
				time.Sleep(time.Nanosecond)
				synctest.Wait()
				_, found := srv.Node("/a")
				require.Equal(t, tc.applied, found)
				if last := srv.Requests(); found {
					require.Equal(t, "/a", last[len(last)-1].Created)
				}
			})
		})
	}
}

func TestDropReply(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DropReply()})
		_, err := c.Create("/a", nil, 0, open)
		require.ErrorIs(t, err, zk.ErrConnectionClosed)
		_, found := srv.Node("/a")
		require.True(t, found)
	})
}

func TestMuteAndMuteReply(t *testing.T) {
	for _, tc := range []struct {
		name    string
		do      zktest.Action
		applied bool
	}{{"Mute", zktest.Blackhole(), false}, {"MuteReply", zktest.BlackholeReply(), true}} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
				srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: tc.do})
				start := time.Now()
				_, err := c.Create("/a", nil, 0, open)
				require.ErrorIs(t, err, zk.ErrConnectionClosed)
				require.Equal(t, 6*time.Second, time.Since(start))
				_, found := srv.Node("/a")
				require.Equal(t, tc.applied, found)
			})
		})
	}
}

func TestFail(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.Fail(zkinside.ErrSessionExpired)})
		_, _, err := c.Get("/")
		require.ErrorIs(t, err, zk.ErrSessionExpired)
		last := srv.Requests()[len(srv.Requests())-1]
		require.Equal(t, zktest.Code(zkinside.ErrSessionExpired), last.Err)
		require.False(t, last.Processed)
	})
}

func TestFailedHandshakeMeansExpired(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		srv.Inject(zktest.Rule{Op: zktest.OpConnect, Session: c.SessionID(), Do: zktest.Fail(zkinside.ErrSessionExpired)})
		srv.CutAll()
		c.await(t, zk.StateExpired)
	})
}

func TestDelays(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		srv.Inject(zktest.Rule{Path: "/before", Do: zktest.DelayRequest(2 * time.Second)})
		srv.Inject(zktest.Rule{Path: "/after", Do: zktest.DelayReply(2 * time.Second)})
		appears := func(path string) time.Duration {
			start := time.Now()
			done := make(chan time.Duration, 1)
			go func() {
				_ = srv.WaitFor(t.Context(), func() bool { _, found := srv.Node(path); return found })
				done <- time.Since(start)
			}()
			_, err := c.Create(path, nil, 0, open)
			require.NoError(t, err)
			require.Equal(t, 2*time.Second, time.Since(start))
			return <-done
		}
		require.Equal(t, 2*time.Second, appears("/before"))
		require.Zero(t, appears("/after"))
	})
}

// Events behind a delayed answer wait for it: a client must not learn of a
// change before the answer to the read that set the watch.
func TestDelayedReplyHoldsEventsBack(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		srv.Inject(zktest.Rule{Op: zktest.OpExists, Do: zktest.DelayReply(time.Second)})
		go func() {
			_ = srv.WaitFor(t.Context(), func() bool { return len(srv.Watches()) == 1 })
			_ = srv.Create("/a", nil)
		}()
		found, _, events, err := c.ExistsW("/a")
		require.NoError(t, err)
		require.False(t, found)
		require.Equal(t, zk.EventNodeCreated, (<-events).Type)
	})
}

func TestCallRunsBeforeAndCallAfterBehindTheRequest(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		var before, after bool
		srv.Inject(zktest.Rule{Op: zktest.OpExists, Path: "/a", Do: zktest.All(
			zktest.Call(func(r zktest.Request) {
				before = true
				_, found := srv.Node(r.Path)
				require.False(t, found)
				require.Empty(t, srv.Watches())
			}),
			zktest.CallAfter(func(r zktest.Request) {
				after = true
				require.True(t, r.Watch)
				require.NoError(t, srv.Create(r.Path, nil))
			}))})
		found, _, events, err := c.ExistsW("/a")
		require.NoError(t, err)
		require.True(t, before && after)
		require.False(t, found)
		require.Equal(t, zk.EventNodeCreated, (<-events).Type, "it must not overtake the answer")
	})
}

func TestRuleMatching(t *testing.T) {
	for _, tc := range []struct {
		name string
		rule zktest.Rule
		want int // of: create /a, create /a/b, multi create /a/c, get /a, container /d
	}{
		{"any", zktest.Rule{}, 5},
		{"op covers its variants", zktest.Rule{Op: zktest.OpCreate}, 3},
		{"one variant", zktest.Rule{Op: zkinside.OpCreateContainer}, 1},
		{"exact path", zktest.Rule{Path: "/a"}, 2},
		{"glob, and the inside of a multi", zktest.Rule{Path: "/a/*"}, 2},
		{"op and path", zktest.Rule{Op: zktest.OpMulti, Path: "/a/c"}, 1},
		{"other session", zktest.Rule{Session: 1}, 0},
		{"after", zktest.Rule{After: 2}, 3},
		{"after and times", zktest.Rule{After: 1, Times: 2}, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
				if tc.rule.Times == 0 {
					tc.rule.Times = -1
				}
				tc.rule.Do = zktest.DelayReply(1)
				tc.rule.Optional = tc.want == 0
				inj := srv.Inject(tc.rule)
				for _, path := range []string{"/a", "/a/b"} {
					_, err := c.Create(path, nil, 0, open)
					require.NoError(t, err)
				}
				_, err := c.Multi(&zk.CheckVersionRequest{Path: "/", Version: -1}, &zk.CreateRequest{Path: "/a/c", Acl: open})
				require.NoError(t, err)
				_, _, err = c.Get("/a")
				require.NoError(t, err)
				_, err = c.CreateContainer("/d", nil, zk.FlagContainer, open)
				require.NoError(t, err)
				require.Equal(t, tc.want, inj.Hits())
			})
		})
	}
}

func TestCloseWakesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c := connect(t, srv, 9*time.Second)
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.DelayRequest(time.Hour)})
		srv.Inject(zktest.Rule{Op: zktest.OpExists, Do: zktest.DelayReply(time.Hour)})
		go c.Exists("/")
		synctest.Wait() // a delayed request would delay this request of its connection
		go c.Get("/")
		synctest.Wait()
		start := time.Now()
		require.NoError(t, srv.Close())
		require.NoError(t, srv.Close())
		require.Zero(t, time.Since(start))
		_, err := srv.Dialer()(t.Context(), "tcp", srv.Addr())
		require.ErrorContains(t, err, "refused")
	})
}
