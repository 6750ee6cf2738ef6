package nodes_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// The server refuses to delete the node: Shutdown says so.
func TestShutdownTellsARefusal(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create("/d", nil))
		c, _ := w.Connect(t)
		n := start(t, c, "/d/a", "data")
		w.ready(t, n)
		_, err := w.Observer.SetACL(t.Context(), "/d", zk.WorldACL(zk.PermRead|zk.PermAdmin), framework.AnyVersion)
		require.NoError(t, err)
		require.ErrorIs(t, n.Shutdown(t.Context()), zk.ErrNoAuth)
		require.ErrorIs(t, n.Shutdown(t.Context()), zk.ErrNoAuth, "every Shutdown returns the same")
		require.Equal(t, "data", w.dataOf("/d/a"))
	})
}

// A Shutdown that gives up says what the deletion has met with, and so does the
// log, once.
func TestShutdownThatGivesUpNamesTheTrouble(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var log recipetest.Log
		c, _ := w.Connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		n := start(t, c, "/a", "data")
		w.ready(t, n)
		settle()
		trouble := w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Times: -1, Do: zktest.Fail(zkinside.ErrSystem)})
		err := n.Shutdown(recipetest.Within(t, time.Minute))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "the node may still be there")
		code, _ := framework.ServerCode(err)
		require.EqualValues(t, zkinside.ErrSystem, code, "%v", err)
		require.Equal(t, 1, strings.Count(log.String(), "deletion of a persistent node is retried after an error"))
		trouble.Remove()
		require.NoError(t, n.Shutdown(w.Patience(t)))
		require.Equal(t, "-", w.dataOf("/a"))
	})
}

// A server that cannot be reached for a while, or fails, does not end the node. The
// pauses between the attempts grow to half a minute.
func TestTroubleDoesNotEndTheNode(t *testing.T) {
	for _, code := range []zktest.Code{
		zkinside.ErrSystem, -7 /* operation timeout */, zkinside.ErrThrottled, zktest.ErrConnectionLoss, zkinside.ErrSessionExpired,
		zkinside.ErrNoNode, -5, /* marshalling error */
	} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			c, _ := w.Connect(t)
			fault := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Times: 30, Do: zktest.Fail(code)})
			begun := time.Now()
			n := start(t, c, "/a", "data")
			_, err := n.WaitRegistered(recipetest.Within(t, 2*time.Second))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			if code == zkinside.ErrThrottled { // the request is made again, and not given up yet
				answer, _ := framework.ServerCode(err)
				require.EqualValues(t, code, answer, "%v", err)
			}
			w.ready(t, n)
			if code == zkinside.ErrSystem {
				const pauses = 1 + 2 + 4 + 8 + 16 + 25*30 // seconds
				require.Equal(t, pauses*time.Second, time.Since(begun).Truncate(time.Second))
			}
			require.Equal(t, 30, fault.Hits())
			require.NoError(t, n.Shutdown(w.Patience(t)))
			require.Equal(t, "-", w.dataOf("/a"))
		})
	}
}

// What cannot be used is an error that says so.
func TestNodesThatCannotBe(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		for name, opts := range map[string][]nodes.Option{
			"nil option":      {nil},
			"mode":            {nodes.WithMode(framework.PersistentSequential)},
			"no mode":         {nodes.WithMode(99)},
			"empty ACL":       {nodes.WithACL(nil)},
			"conflict policy": {nodes.WithConflictPolicy(3)},
		} {
			_, err := nodes.NewPersistentNode(c, "/a", nil, opts...)
			require.ErrorIs(t, err, zk.ErrBadArguments, name)
		}
		for _, path := range []string{"a", "/", ""} {
			_, err := nodes.NewPersistentNode(c, path, nil)
			require.ErrorIs(t, err, zk.ErrInvalidPath, path)
		}
		_, err := nodes.NewPersistentNode(nil, "/a", nil)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		n := start(t, c, "/a", "")
		_, err = nodes.NewPersistentNode(c, "/a", nil)
		require.ErrorIs(t, err, nodes.ErrInUse)
		require.NoError(t, n.Shutdown(t.Context()))
	})
}

// Every call of a node that no constructor has made is an error.
func TestZeroNodeIsOver(t *testing.T) {
	var n nodes.PersistentNode
	_, err := n.WaitRegistered(t.Context())
	for _, err := range []error{err, n.Set(t.Context(), nil), n.Err(), n.Shutdown(t.Context())} {
		require.ErrorIs(t, err, zk.ErrBadArguments)
	}
	_, there := n.Registration()
	require.False(t, there)
	elements := 0
	for change, err := range n.Changes(t.Context()) {
		require.Equal(t, nodes.Ended, change.State)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		elements++
	}
	require.Equal(t, 1, elements)
	<-n.Done()
}

// Credentials that the servers refuse in a new session end a node, at once. As
// long as the old session lives, the node is there.
//
// Promise: A node is deleted as soon as a server accepts the credentials again.
func TestRefusedCredentialsEndANode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t, framework.WithAuth("digest", []byte("a:b")))
		n := start(t, c, "/a", "data")
		w.ready(t, n)
		network.Refuse(true)
		network.Cut()
		time.Sleep(time.Minute)
		refused := w.Fake.Inject(zktest.Rule{Op: zkinside.OpAuth, Times: -1, Do: zktest.Fail(zkinside.ErrAuthFailed)})
		network.Refuse(false)
		_, err := n.WaitRegistered(recipetest.Within(t, time.Minute))
		require.ErrorIs(t, err, zk.ErrAuthFailed)
		require.NotErrorIs(t, err, context.DeadlineExceeded, "it says so at once")
		require.ErrorIs(t, n.Err(), zk.ErrAuthFailed)
		err = n.Shutdown(recipetest.Within(t, time.Minute))
		require.ErrorIs(t, err, framework.ErrLeftToServers, "no server has said that the node is gone")
		require.ErrorIs(t, err, zk.ErrAuthFailed)
		require.Equal(t, "-", w.dataOf("/a"))
		refused.Remove()
		time.Sleep(time.Minute) // the client asks again
		require.NoError(t, n.Shutdown(w.Patience(t)))
	})
}

// A node is shut down in an outage, and another one has its path since. The end of
// the first does not give the path up.
//
// Promise: The end of a persistent node does not free the path that its successor uses.
func TestPathOfASuccessorStaysInUse(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		first := start(t, c, "/a", "first")
		w.ready(t, first)
		network.Refuse(true)
		network.Cut()
		require.ErrorIs(t, first.Shutdown(recipetest.Within(t, time.Second)), context.DeadlineExceeded)
		second := start(t, c, "/a", "second")
		network.Refuse(false)
		w.ready(t, second)
		require.NoError(t, first.Shutdown(w.Patience(t)))
		_, err := nodes.NewPersistentNode(c, "/a", nil)
		require.ErrorIs(t, err, nodes.ErrInUse)
	})
}

// The reply to the create was lost, and the node may not be read. Shutdown does
// not say that it is gone.
func TestShutdownTellsThatANodeOfUnknownOutcomeMayNotBeRead(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		again := zktest.CallAfter(func(zktest.Request) { network.Refuse(true) })
		lost := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.All(again, zktest.DropReply())})
		n := start(t, c, "/a", "ours", nodes.WithMode(framework.Persistent), nodes.WithACL(zk.WorldACL(zk.PermDelete)))
		<-lost.Done()
		settle()
		require.ErrorIs(t, n.Shutdown(recipetest.Within(t, time.Second)), context.DeadlineExceeded)
		network.Refuse(false)
		require.ErrorIs(t, n.Shutdown(w.Patience(t)), zk.ErrNoAuth)
		require.Equal(t, "ours", w.dataOf("/a"))
	})
}

// The reply to the delete was lost. What the servers say next of the node is asked
// for behind a quorum: another node may be there by then.
//
// Promise: After a lost reply to a delete, a leader that lags does not mislead the look-up.
func TestLookAfterALostDeleteIsBehindAQuorum(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n := start(t, c, "/a", "ours")
		w.ready(t, n)
		settle()
		require.NoError(t, c.SyncQuorum(t.Context()))
		w.Fake.ClearRequests()
		require.NoError(t, c.SyncQuorum(t.Context()))
		quorum := w.requests(c.SessionID())
		require.Len(t, quorum, 1)
		w.Fake.ClearRequests()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.DropReply()})
		require.NoError(t, n.Shutdown(w.Patience(t)))
		all := w.requests(c.SessionID())
		behind := all[slices.Index(all, zktest.OpDelete)+1:]
		require.Less(t, slices.Index(behind, quorum[0]), slices.Index(behind, zktest.OpExists))
		require.Contains(t, behind, quorum[0])
	})
}

// A server has stalled with the create, and the client has given its session up.
// The servers still keep that session when the server goes on. So Shutdown, which
// finds no node, must not return nil. Once the servers have ended the session, it
// may.
func TestShutdownBeforeALateCreateSaysThatTheNodeIsLeftToTheServers(t *testing.T) {
	for _, shutdown := range []string{"before the node comes", "after the session's end"} {
		t.Run(shutdown, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				const session = 40 * time.Second
				c, network := w.Connect(t, framework.WithSessionTimeout(session), framework.WithSafetyMargin(0.5)) // given up halfway
				require.NoError(t, c.WaitConnected(w.Patience(t)))
				lost, err := c.Session(w.Patience(t))
				require.NoError(t, err)
				stalls := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Session: lost.ID(), Do: zktest.All(
					zkinside.HoldRequest(session*3/4).(zktest.Action), zktest.Call(func(zktest.Request) { network.Refuse(true) }))})
				n := start(t, c, "/a", "data")
				<-stalls.Done()
				<-lost.Context().Done()
				network.Refuse(false)
				w.ready(t, n) // in the next session
				if shutdown == "after the session's end" {
					time.Sleep(3 * session)
					require.NoError(t, n.Shutdown(w.Patience(t)))
					require.Equal(t, "-", w.dataOf("/a"))
					return
				}
				err = n.Shutdown(w.Patience(t))
				time.Sleep(session * 3 / 10)
				require.Equal(t, "data", w.dataOf("/a"), "it has come late")
				require.ErrorIs(t, err, framework.ErrLeftToServers)
				require.ErrorIs(t, err, framework.ErrSessionLost)
				time.Sleep(session)
				require.Equal(t, "-", w.dataOf("/a"))
			})
		})
	}
}

// The same for a node of no session, which stays. Whose it is by then, nobody knows.
func TestShutdownBeforeALateCreateOfANodeOfNoSession(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		const session = 40 * time.Second
		c, network := w.Connect(t, framework.WithSessionTimeout(session), framework.WithSafetyMargin(0.5))
		require.NoError(t, c.WaitConnected(w.Patience(t)))
		lost, err := c.Session(w.Patience(t))
		require.NoError(t, err)
		stalls := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Session: lost.ID(), Do: zktest.All(
			zkinside.HoldRequest(session*3/4).(zktest.Action), zktest.Call(func(zktest.Request) { network.Refuse(true) }))})
		n := start(t, c, "/a", "data", nodes.WithMode(framework.Persistent))
		<-stalls.Done()
		<-lost.Context().Done()
		network.Refuse(false)
		w.ready(t, n) // in the next session
		require.ErrorIs(t, n.Shutdown(w.Patience(t)), framework.ErrOutcomeUnknown)
		time.Sleep(session * 4)
		require.Equal(t, "data", w.dataOf("/a"), "it has come late")
		require.ErrorIs(t, n.Shutdown(w.Patience(t)), framework.ErrOutcomeUnknown)

		second := start(t, c, "/b", "data", nodes.WithMode(framework.Persistent))
		w.ready(t, second)
		require.NoError(t, second.Shutdown(w.Patience(t)))
	})
}

// A node of no session stays when the session of its client ends. So only an outage,
// the context and the end of the client end its Shutdown.
func TestShutdownOfANodeOfNoSessionInAnOutage(t *testing.T) {
	for name, row := range map[string]struct {
		after time.Duration // the outage begins; the session has ended then, or has not
		end   func(c *framework.Client)
		want  error
	}{
		"the session lives": {end: func(*framework.Client) {}, want: framework.ErrNotConnected},
		"the session ends":  {after: time.Minute, end: func(*framework.Client) {}, want: framework.ErrNotConnected},
		"the client ends":   {end: func(c *framework.Client) { c.Close() }, want: framework.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, network := w.Connect(t, framework.WithConnectionTimeout(2*time.Second))
				n := start(t, c, "/a", "data", nodes.WithMode(framework.Persistent))
				w.ready(t, n)
				network.Refuse(true)
				network.Cut()
				time.Sleep(row.after)
				begun, returned := time.Now(), make(chan error, 1)
				go func() { returned <- n.Shutdown(context.Background()) }()
				synctest.Wait()
				row.end(c)
				err := <-returned
				require.ErrorIs(t, err, row.want)
				require.NotErrorIs(t, err, framework.ErrLeftToServers)
				require.LessOrEqual(t, time.Since(begun), 2*time.Second)
				network.Refuse(false)
				time.Sleep(time.Minute)
				require.Equal(t, map[bool]string{true: "data", false: "-"}[row.want == framework.ErrClosed], w.dataOf("/a"))
			})
		})
	}
}
