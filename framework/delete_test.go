package framework_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

func TestDeleteWithChildrenTakesTheTreeAndNothingElse(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		for _, path := range []string{"/a", "/a/tree", "/a/tree-", "/a/tree-/n", "/a/other"} {
			mustCreate(t, c, path, "")
		}
		makeTree(t, t.Context(), c, "/a/tree/x", 3, 5)
		require.ErrorIs(t, c.Delete(t.Context(), "/a/tree", framework.AnyVersion), zk.ErrNotEmpty)
		require.NoError(t, c.Delete(t.Context(), "/a/tree", framework.AnyVersion, framework.WithChildren()))
		require.Equal(t, []string{"other", "tree-"}, srv.Children("/a"))
		require.Equal(t, []string{"n"}, srv.Children("/a/tree-"))
		require.ErrorIs(t, c.Delete(t.Context(), "/a/tree", framework.AnyVersion, framework.WithChildren()), zk.ErrNoNode)
		require.ErrorIs(t, c.Delete(t.Context(), "/", framework.AnyVersion, framework.WithChildren()), zk.ErrBadArguments)
		require.Len(t, srv.Children("/a"), 2)
	})
}

// A round trip for each of 781 nodes would take 78 seconds here.
func TestDeleteWithChildrenDoesNotWaitForEachNode(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		makeTree(t, t.Context(), c, "/tree", 4, 5)
		srv.Inject(zktest.Rule{Times: -1, Do: zktest.DelayReply(100 * time.Millisecond)})
		begin := time.Now()
		require.NoError(t, c.Delete(t.Context(), "/tree", framework.AnyVersion, framework.WithChildren()))
		require.Less(t, time.Since(begin), 5*time.Second)
		require.Equal(t, 781+156, srv.CountRequests(zktest.OpDelete), "each once, except the nodes that have children")
		require.Equal(t, 156, srv.CountRequests(zkinside.OpGetChildren2), "only those are listed")
		require.Empty(t, srv.Tree())
	})
}

func TestDeleteWithChildrenTakesWhatAppearsAndVanishes(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		makeTree(t, t.Context(), c, "/tree", 2, 3)
		appeared := 0
		srv.Inject(zktest.Rule{Op: zktest.OpDelete, Path: "/tree/*", Times: 4, Do: zktest.Call(func(zktest.Request) {
			appeared++
			srv.Create(fmt.Sprintf("/tree/0/new%d", appeared), nil)
			srv.Delete(fmt.Sprintf("/tree/1/%d", appeared-1))
		})})
		require.NoError(t, c.Delete(t.Context(), "/tree", framework.AnyVersion, framework.WithChildren()))
		require.Empty(t, srv.Tree())
	})
}

func TestDeleteWithChildrenGivesUpAgainstSomebodyWhoGoesOnCreating(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		mustCreate(t, c, "/n/a", "")
		srv.Inject(zktest.Rule{Op: zktest.OpDelete, Path: "/n/a", Times: -1, Do: zktest.CallAfter(func(zktest.Request) { srv.Create("/n/a", nil) })})
		err := c.Delete(t.Context(), "/n", framework.AnyVersion, framework.WithChildren())
		require.ErrorIs(t, err, zk.ErrNotEmpty)
		require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
	})
}

func TestDeleteWithChildrenComparesTheVersionFirst(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		makeTree(t, t.Context(), c, "/tree", 2, 2)
		require.ErrorIs(t, c.Delete(t.Context(), "/tree", 1, framework.WithChildren()), zk.ErrBadVersion)
		require.Len(t, srv.Children("/tree"), 2, "nothing was deleted")
		require.NoError(t, srv.Set("/tree/0", []byte("version 1, which does not matter")))
		require.NoError(t, c.Delete(t.Context(), "/tree", 0, framework.WithChildren()))
	})
}

func TestDeleteWithChildrenNamesTheNodeThatItMayNotDelete(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		mustCreate(t, c, "/n/closed", "", framework.WithACL(zk.WorldACL(zk.PermRead|zk.PermCreate)))
		mustCreate(t, c, "/n/closed/child", "")
		err := c.Delete(t.Context(), "/n", framework.AnyVersion, framework.WithChildren(), framework.WithGuarantee())
		require.ErrorIs(t, err, zk.ErrNoAuth)
		require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
		require.ErrorContains(t, err, "/n/closed/child")
		srv.ClearRequests()
		time.Sleep(time.Minute)
		require.Zero(t, srv.CountRequests(zktest.OpDelete), "what is refused stays refused")
	})
}

func TestDeleteWithChildrenNamesTheNodeThatItMayNotList(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		mustCreate(t, c, "/n/secret", "", framework.WithACL(zk.WorldACL(zk.PermCreate|zk.PermDelete)))
		mustCreate(t, c, "/n/secret/child", "")
		err := c.Delete(t.Context(), "/n", framework.AnyVersion, framework.WithChildren())
		require.ErrorIs(t, err, zk.ErrNoAuth)
		require.ErrorContains(t, err, "/n/secret")
	})
}

func TestQuietDeleteOfAMissingNodeIsSuccess(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.NoError(t, c.Delete(t.Context(), "/missing", 3, framework.WithMissingOK()))
		require.NoError(t, c.Delete(t.Context(), "/missing/child", 3, framework.WithMissingOK(), framework.WithChildren()))
		mustCreate(t, c, "/n", "")
		require.ErrorIs(t, c.Delete(t.Context(), "/n", 3, framework.WithMissingOK()), zk.ErrBadVersion)
		srv.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.DropReply()})
		require.ErrorIs(t, c.Delete(t.Context(), "/n", 0, framework.WithMissingOK()), framework.ErrOutcomeUnknown)
	})
}

// Promise: A guaranteed delete is finished in the background if its caller gives up.
func TestGuaranteedDeleteOfATreeIsFinishedInTheBackground(t *testing.T) {
	for n, hit := 0, true; hit; n++ {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			makeTree(t, t.Context(), c, "/tree", 2, 3)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			inj := srv.Inject(zktest.Rule{Optional: true, After: n, Do: zktest.All(zktest.Call(func(zktest.Request) { cancel() }), zktest.DropRequest())})
			err := c.Delete(ctx, "/tree", 0, framework.WithChildren(), framework.WithGuarantee())
			if hit = inj.Hits() > 0; hit {
				require.ErrorIs(t, err, context.Canceled)
			}
			time.Sleep(time.Minute)
			require.Empty(t, srv.Tree())
		})
	}
}

// The version is what the caller has asked for, also when nobody waits any
// more.
func TestGuaranteedDeleteOfAVersionDeletesNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, c.Delete(ctx, "/n", 1, framework.WithGuarantee()), context.Canceled)
		time.Sleep(time.Minute)
		_, ok := srv.Node("/n")
		require.True(t, ok)
	})
}
