package nodes_test

import (
	"context"
	"fmt"
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

// Two clients want the same path. The second one waits, says for whom, and
// takes over when the first has gone: by Shutdown, and by the end of its
// session.
func TestSecondOwnerWaits(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		a, _ := w.Connect(t)
		b, _ := w.Connect(t)
		first := start(t, a, path, "first")
		held := w.ready(t, first)
		second := start(t, b, path, "second")
		changes := second.Changes(w.Patience(t))
		awaitConflict(t, w, second)
		_, err := second.WaitRegistered(recipetest.Within(t, time.Second))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		var conflict *nodes.ConflictError
		require.ErrorAs(t, err, &conflict)
		require.Equal(t, held.Session.ID(), conflict.Session)
		require.Equal(t, held.Czxid, conflict.Czxid)
		require.Equal(t, "first", string(conflict.Data))
		require.NoError(t, first.Shutdown(w.Patience(t)))
		w.ready(t, second)
		require.Equal(t, "second", w.data(t, path))
		for c := range changes {
			if c.State == nodes.Registered {
				break
			}
			require.Equal(t, nodes.Conflict, c.State)
			require.ErrorIs(t, c.Err, nodes.ErrConflict)
		}
		require.NoError(t, second.Shutdown(w.Patience(t)))
		w.awaitNode(t, path, false)
		w.NoWatches(t)
	})
}

// awaitConflict waits until a node knows which one is in its way. A busy server may
// take its time.
func awaitConflict(t *testing.T, w *world, n *nodes.PersistentNode) {
	t.Helper()
	for c := range n.Changes(w.Patience(t)) {
		if c.State == nodes.Conflict {
			return
		}
	}
	require.FailNow(t, "there is no conflict")
}

// The policy Fail ends the second owner, and leaves the first one's node alone.
func TestSecondOwnerFails(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		_, err := w.Observer.Create(w.Patience(t), path, []byte("first"))
		require.NoError(t, err)
		c, _ := w.Connect(t)
		n := start(t, c, path, "second", nodes.WithConflictPolicy(nodes.Fail))
		_, err = n.WaitRegistered(w.Patience(t))
		var conflict *nodes.ConflictError
		require.ErrorAs(t, err, &conflict)
		require.Zero(t, conflict.Session, "the node is persistent")
		require.ErrorIs(t, n.Err(), nodes.ErrConflict)
		require.NoError(t, n.Shutdown(w.Patience(t)))
		require.Equal(t, "first", w.data(t, path))
	})
}

// The policy Replace takes the path over. The replaced owner ends, if its own policy is
// to replace, or else waits: the two owners do not replace each other for ever.
func TestSecondOwnerReplaces(t *testing.T) {
	for name, policy := range map[string]nodes.ConflictPolicy{"wait": nodes.Wait, "replace": nodes.Replace} {
		t.Run(name, func(t *testing.T) {
			onFakeAndReal(t, func(t *testing.T, w *world) {
				path := recipetest.Path(t)
				a, _ := w.Connect(t)
				b, _ := w.Connect(t)
				first := start(t, a, path, "first", nodes.WithConflictPolicy(policy))
				w.ready(t, first)
				second := start(t, b, path, "second", nodes.WithConflictPolicy(nodes.Replace))
				held := w.ready(t, second)
				if policy == nodes.Replace {
					<-first.Done()
					require.ErrorIs(t, first.Err(), nodes.ErrConflict)
				}
				require.Equal(t, "second", w.data(t, path))
				require.NoError(t, first.Shutdown(w.Patience(t)), "it deletes nothing")
				require.Equal(t, "second", w.data(t, path))
				require.Equal(t, held, w.ready(t, second))
				require.NoError(t, second.Shutdown(w.Patience(t)))
				w.awaitNode(t, path, false)
			})
		})
	}
}

// A node with children cannot be replaced: the error is the server's.
func TestNodeWithChildrenIsNotReplaced(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create("/a/child", nil))
		c, _ := w.Connect(t)
		n := start(t, c, "/a", "data", nodes.WithConflictPolicy(nodes.Replace))
		_, err := n.WaitRegistered(w.Patience(t))
		require.ErrorIs(t, err, zk.ErrNotEmpty)
		require.Len(t, w.Fake.Children("/a"), 1)
	})
}

// The owner of a node that is replaced is about to delete it. The delete
// arrives late, and hits nobody: the node behind it has another version.
//
// Promise: A late delete of a former node misses its successor.
func TestLateDeleteDoesNotHitTheSuccessor(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a, _ := w.Connect(t)
		b, _ := w.Connect(t)
		first := start(t, a, "/a", "first")
		w.ready(t, first)
		synctest.Wait()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Session: a.SessionID(), Do: zktest.DelayRequest(time.Second)})
		gone := make(chan error)
		go func() { gone <- first.Shutdown(w.Patience(t)) }()
		synctest.Wait()
		second := start(t, b, "/a", "second", nodes.WithConflictPolicy(nodes.Replace))
		held := w.ready(t, second)
		require.NoError(t, <-gone)
		require.Equal(t, "second", w.dataOf("/a"))
		require.Equal(t, held, w.ready(t, second))
	})
}

// The owner's delete is repeated, because its reply is lost, and arrives late. The
// next one has seen the node, and not read it before it was gone.
//
// Promise: A late delete misses a node that replaced one that was seen but never read.
func TestLateDeleteDoesNotHitOneThatHasSeenTheNodeGo(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a, _ := w.Connect(t)
		b, _ := w.Connect(t)
		_, err := a.Create(t.Context(), "/a", []byte("first"), framework.WithMode(framework.Ephemeral))
		require.NoError(t, err)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Session: b.SessionID(), Times: 1, Do: zktest.Call(func(zktest.Request) {
			require.NoError(t, w.Fake.Delete("/a"))
		})})
		second := start(t, b, "/a", "second")
		held := w.ready(t, second)
		late := a.Delete(t.Context(), "/a", 0)
		require.ErrorIs(t, late, zk.ErrBadVersion)
		require.Equal(t, held, w.ready(t, second))
		require.Equal(t, "second", w.dataOf("/a"))
	})
}

// The owner of a node has looked at it, and its delete arrives late. It misses the
// nodes of the client that has waited for it: the first one, and those that follow.
//
// Promise: A late delete of another client's node misses every later node of a client that has waited for that one.
func TestLateDeleteHitsNoNodeOfOneThatHasWaited(t *testing.T) {
	loseSession := func(w *world, c *framework.Client) {
		zkinside.Of(w.Fake).ReplaceSession(c.SessionID())
		w.Fake.CutAll()
	}
	for name, tc := range map[string]struct {
		version  int32 // of the node that is waited for
		lost     bool  // the node behind it is made, and the reply is lost with the session
		replaced bool  // the session is lost later, and the servers keep it
		deleted  bool  // a third client deletes the node behind it
		sets     int   // the node behind it is written that often
	}{
		"reply lost":          {lost: true},
		"session lost":        {replaced: true},
		"session lost twice":  {lost: true, replaced: true},
		"deleted":             {deleted: true},
		"written":             {version: 2, sets: 5},
		"deleted and written": {version: 1, deleted: true, sets: 1},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				a, _ := w.Connect(t)
				b, _ := w.Connect(t)
				_, err := a.Create(t.Context(), "/a", nil, framework.WithMode(framework.Ephemeral))
				require.NoError(t, err)
				for range tc.version {
					_, err = a.Set(t.Context(), "/a", nil, framework.AnyVersion)
					require.NoError(t, err)
				}
				second := start(t, b, "/a", "second")
				awaitConflict(t, w, second)
				if tc.lost {
					lost := b.SessionID()
					lose := zktest.Call(func(zktest.Request) { zkinside.Of(w.Fake).ReplaceSession(lost) })
					w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Times: 1, Do: zktest.All(lose, zktest.DropReply())})
				}
				require.NoError(t, w.Fake.Delete("/a"))
				held := w.ready(t, second)
				if tc.replaced {
					loseSession(w, b)
					<-held.Session.Context().Done()
				}
				if tc.deleted {
					require.NoError(t, w.Fake.Delete("/a"))
					settle()
				}
				require.ErrorIs(t, a.Delete(t.Context(), "/a", tc.version), zk.ErrBadVersion)
				for i := range tc.sets {
					require.NoError(t, second.Set(w.Patience(t), fmt.Append(nil, i)))
					require.ErrorIs(t, a.Delete(t.Context(), "/a", tc.version), zk.ErrBadVersion)
				}
				held = w.ready(t, second)
				require.ErrorIs(t, a.Delete(t.Context(), "/a", tc.version), zk.ErrBadVersion)
				require.Equal(t, held, w.ready(t, second))
			})
		})
	}
}

// Somebody deletes the node, and another puts its own in the place: the node is
// lost, in conflict, and comes back when the place is free. Shutdown does not
// touch the other's.
//
// Promise: Shutdown deletes no node of another client.
func TestForeignReplacement(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n, seen := startFollowed(t, c, "/a", "ours")
		w.ready(t, n)
		synctest.Wait()
		_, err := w.Observer.Transaction(t.Context(), framework.DeleteOp("/a", framework.AnyVersion),
			framework.CreateOp("/a", []byte("theirs"), framework.WithMode(framework.Ephemeral)))
		require.NoError(t, err)
		settle()
		require.Equal(t, []nodes.State{nodes.Registered, nodes.Lost, nodes.Conflict}, states(seen()))
		require.NoError(t, w.Observer.Delete(t.Context(), "/a", framework.AnyVersion))
		settle()
		require.Equal(t, "ours", w.dataOf("/a"))
		_, err = w.Observer.Transaction(t.Context(), framework.DeleteOp("/a", framework.AnyVersion),
			framework.CreateOp("/a", []byte("theirs")))
		require.NoError(t, err)
		require.NoError(t, n.Shutdown(t.Context()))
		require.Equal(t, "theirs", w.dataOf("/a"))
	})
}

// The next node of a client with the same path waits until the one before is
// gone, however long its deletion takes.
func TestNextNodeOfTheSameClient(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		first := start(t, c, "/a", "first")
		w.ready(t, first)
		network.Refuse(true)
		network.Cut()
		require.Error(t, first.Shutdown(recipetest.Within(t, time.Second)))
		view, err := c.Namespace("/")
		require.NoError(t, err)
		second := start(t, view, "/a", "second", nodes.WithConflictPolicy(nodes.Fail))
		time.Sleep(time.Minute)
		network.Refuse(false)
		w.ready(t, second)
		require.NoError(t, first.Shutdown(w.Patience(t)))
		require.Equal(t, "second", w.dataOf("/a"))
		require.NoError(t, second.Shutdown(w.Patience(t)))
		require.Equal(t, "-", w.dataOf("/a"))
	})
}

// Two nodes with protection and one path do not get in each other's way. Each
// keeps its name, and a sequential one its number.
func TestUniqueNamesDoNotConflict(t *testing.T) {
	for name, opts := range map[string][]nodes.Option{
		"protected":  {nodes.WithProtection()},
		"sequential": {nodes.WithMode(framework.EphemeralSequential)},
	} {
		t.Run(name, func(t *testing.T) {
			onFakeAndReal(t, func(t *testing.T, w *world) {
				dir := recipetest.Path(t)
				c, network := w.Connect(t)
				a, b := start(t, c, dir+"/m-", "a", opts...), start(t, c, dir+"/m-", "b", opts...)
				before := []string{w.ready(t, a).Path, w.ready(t, b).Path}
				require.NotEqual(t, before[0], before[1])
				require.Regexp(t, `/_c_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}-m-(\d{10})?$`, before[0])
				old := w.ready(t, a).Session
				network.Expire(t)
				<-old.Context().Done()
				require.Equal(t, before, []string{w.ready(t, a).Path, w.ready(t, b).Path})
				require.Len(t, w.Nodes(t, dir), 2)
				require.NoError(t, a.Shutdown(w.Patience(t)))
				require.NoError(t, b.Shutdown(w.Patience(t)))
				require.Empty(t, w.Nodes(t, dir))
			})
		})
	}
}

// A persistent node that exists is taken over, and stays when its session ends.
// Shutdown deletes it.
func TestPersistentModes(t *testing.T) {
	for name, mode := range map[string]framework.Mode{"persistent": framework.Persistent, "container": framework.Container} {
		t.Run(name, func(t *testing.T) {
			onFakeAndReal(t, func(t *testing.T, w *world) {
				path := recipetest.Path(t)
				_, err := w.Observer.Create(w.Patience(t), path, []byte("old"))
				require.NoError(t, err)
				c, network := w.Connect(t)
				n := start(t, c, path, "new", nodes.WithMode(mode))
				before := w.ready(t, n)
				require.Equal(t, "new", w.data(t, path))
				network.Expire(t)
				<-before.Session.Context().Done()
				after := w.ready(t, n)
				require.Equal(t, before.Czxid, after.Czxid)
				require.NoError(t, w.Observer.Delete(w.Patience(t), path, framework.AnyVersion))
				w.awaitNode(t, path, true)
				require.NoError(t, n.Shutdown(w.Patience(t)))
				w.awaitNode(t, path, false)

				_, err = w.Observer.Create(w.Patience(t), path, nil, framework.WithMode(framework.Ephemeral))
				require.NoError(t, err)
				n = start(t, c, path, "new", nodes.WithMode(mode), nodes.WithConflictPolicy(nodes.Fail))
				_, err = n.WaitRegistered(w.Patience(t))
				require.ErrorIs(t, err, nodes.ErrConflict)
			})
		})
	}
}

// The node in the way is gone, and a server fails when the owner's node is to be
// created.
func TestConflictThatIsOverHidesNoTrouble(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create("/a", []byte("theirs")))
		c, _ := w.Connect(t)
		n := start(t, c, "/a", "ours")
		settle()
		require.ErrorIs(t, n.LastError(), nodes.ErrConflict)
		for _, op := range []zktest.Op{zktest.OpMulti, zktest.OpCreate} {
			w.Fake.Inject(zktest.Rule{Optional: true, Session: c.SessionID(), Op: op, Times: -1, Do: zktest.Fail(zkinside.ErrSystem)})
		}
		require.NoError(t, w.Fake.Delete("/a"))
		settle()
		_, err := n.WaitRegistered(recipetest.Within(t, time.Second))
		for _, err := range []error{err, n.LastError()} {
			require.NotErrorIs(t, err, nodes.ErrConflict)
			code, _ := framework.ServerCode(err)
			require.EqualValues(t, zkinside.ErrSystem, code)
		}
		seen := follow(t, n)
		synctest.Wait()
		require.Empty(t, seen(), "a reader of Changes hears of no conflict")
	})
}
