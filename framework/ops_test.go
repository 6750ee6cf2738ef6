package framework_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

func TestCreateReturnsPathAndCzxidInEveryMode(t *testing.T) {
	for _, tc := range []struct {
		mode framework.Mode
		path string
		opts []framework.CreateOption
	}{
		{framework.Persistent, "/n", nil},
		{framework.Ephemeral, "/n", nil},
		{framework.PersistentSequential, "/n0000000000", nil},
		{framework.EphemeralSequential, "/n0000000000", nil},
		{framework.Container, "/n", nil},
		{framework.PersistentTTL, "/n", []framework.CreateOption{framework.WithTTL(time.Hour)}},
		{framework.PersistentSequentialTTL, "/n0000000000", []framework.CreateOption{framework.WithTTL(time.Hour)}},
	} {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			n := mustCreate(t, c, "/n", "data", append(tc.opts, framework.WithMode(tc.mode))...)
			require.Equal(t, tc.path, n.Path, "mode %d", tc.mode)
			node, ok := srv.Node(tc.path)
			require.True(t, ok)
			require.Equal(t, node.Stat.Czxid, n.Czxid)
			require.Equal(t, "data", string(node.Data))
			ephemeral := tc.mode == framework.Ephemeral || tc.mode == framework.EphemeralSequential
			require.Equal(t, ephemeral, node.Stat.EphemeralOwner == n.Session.ID())
			require.Equal(t, c.SessionID(), n.Session.ID())
		})
	}
}

func TestProtectedNamesAreCurators(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		const uuid = `_c_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}-`
		n := mustCreate(t, c, "/locks/lock-", "", framework.WithProtection(), framework.WithParents(),
			framework.WithMode(framework.EphemeralSequential))
		require.Regexp(t, "^/locks/"+uuid+"lock-0000000000$", n.Path)
		top := mustCreate(t, c, "/top", "", framework.WithProtection())
		require.Regexp(t, "^/"+uuid+"top$", top.Path)
		require.NotEqual(t, n.Path[10:46], top.Path[4:40], "each has a UUID of its own")
	})
}

func TestWithParentsMakesContainers(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		n := mustCreate(t, c, "/a/b/c/d", "", framework.WithParents())
		require.Equal(t, "/a/b/c/d", n.Path)
		require.NoError(t, c.Delete(t.Context(), "/a/b/c/d", framework.AnyVersion))
		time.Sleep(5 * time.Minute)
		require.Empty(t, srv.Tree())
	})
}

// CURATOR-715: no rights are needed on what exists already.
func TestWithParentsNeedsNoRightsAboveTheDeepestExistingNode(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/closed", "", framework.WithACL(zk.WorldACL(zk.PermCreate|zk.PermRead)))
		mustCreate(t, c, "/closed/open", "")
		_, err := c.Create(t.Context(), "/closed/open/x/y", nil, framework.WithParents())
		require.NoError(t, err)
		for _, r := range srv.Requests() {
			require.False(t, r.Op == zkinside.OpCreateContainer && r.Path == "/closed")
		}
	})
}

func TestReadsAndWrites(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		ctx := t.Context()
		mustCreate(t, c, "/n", "one")
		data, stat, err := c.Get(ctx, "/n")
		require.NoError(t, err)
		require.Equal(t, "one", string(data))
		require.Zero(t, stat.Version)

		stat, err = c.Set(ctx, "/n", []byte("two"), 0)
		require.NoError(t, err)
		require.EqualValues(t, 1, stat.Version)
		stat, err = c.Set(ctx, "/n", []byte("three"), framework.AnyVersion)
		require.NoError(t, err)
		require.EqualValues(t, 2, stat.Version)

		there, stat, err := c.Exists(ctx, "/n")
		require.NoError(t, err)
		require.True(t, there)
		require.EqualValues(t, 2, stat.Version)
		there, stat, err = c.Exists(ctx, "/missing")
		require.NoError(t, err)
		require.False(t, there)
		require.Nil(t, stat)

		mustCreate(t, c, "/n/b", "")
		mustCreate(t, c, "/n/a", "")
		names, stat, err := c.Children(ctx, "/n")
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"a", "b"}, names)
		require.EqualValues(t, 2, stat.NumChildren)
		require.NoError(t, c.Sync(ctx, "/n"))

		require.NoError(t, c.Delete(ctx, "/n/a", 0))
		require.NoError(t, c.Delete(ctx, "/n/b", framework.AnyVersion))
		require.NoError(t, c.Delete(ctx, "/n", 2))
		require.Empty(t, srv.Tree())
	})
}

func TestErrorsOfTheServerAreFoundByErrorsIs(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		ctx := t.Context()
		mustCreate(t, c, "/n", "")
		mustCreate(t, c, "/n/child", "")
		mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
		second := func(_ any, err error) error { return err }
		third := func(_, _ any, err error) error { return err }
		for _, tc := range []struct {
			got  error
			want error
			text string
		}{
			{third(c.Get(ctx, "/x")), zk.ErrNoNode, "get /x: zk: node does not exist"},
			{third(c.Children(ctx, "/x")), zk.ErrNoNode, "children /x: "},
			{second(c.Set(ctx, "/x", nil, 0)), zk.ErrNoNode, "set /x: "},
			{c.Delete(ctx, "/x", 0), zk.ErrNoNode, "delete /x: "},
			{second(c.Create(ctx, "/x/y", nil)), zk.ErrNoNode, "create /x/y: "},
			{second(c.Create(ctx, "/n", nil)), zk.ErrNodeExists, "create /n: "},
			{second(c.Create(ctx, "/e/y", nil)), zk.ErrNoChildrenForEphemerals, "create /e/y: "},
			{second(c.Set(ctx, "/n", nil, 5)), zk.ErrBadVersion, "set /n: "},
			{c.Delete(ctx, "/n", 5), zk.ErrBadVersion, "delete /n: "},
			{c.Delete(ctx, "/n", 0), zk.ErrNotEmpty, "delete /n: "},
		} {
			require.ErrorIs(t, tc.got, tc.want)
			require.ErrorContains(t, tc.got, tc.text)
			var op *framework.OpError
			require.ErrorAs(t, tc.got, &op)
			require.False(t, framework.IsConnectionError(tc.got))
		}
	})
}

func TestErrorsThatTheLibraryHasNoNameForAreServerErrors(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		srv.Inject(zktest.Rule{Do: zktest.Fail(zktest.Code(-125))})
		_, _, err := c.Get(t.Context(), "/")
		var se *framework.ServerError
		require.ErrorAs(t, err, &se)
		require.EqualValues(t, -125, se.Code)
		require.ErrorIs(t, err, &framework.ServerError{Code: -125})
		require.NotErrorIs(t, err, &framework.ServerError{Code: -6})
		require.EqualError(t, err, "get /: zk: quota exceeded (-125)")
	})
}

func TestChrootIsPutBeforeEveryPathAndTakenOffEveryResult(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, root *framework.Client) {
		ctx := t.Context()
		c, err := framework.New(srv.Addr()+"/app/a", framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()

		_, err = c.Create(ctx, "/y/x", nil)
		require.ErrorIs(t, err, zk.ErrNoNode, "only the chroot is made by itself")
		n, err := c.Create(ctx, "/x", nil)
		require.NoError(t, err)
		require.Equal(t, "/x", n.Path)
		require.Equal(t, []string{"x"}, srv.Children("/app/a"))

		p, err := c.Create(ctx, "/app/a", nil, framework.WithParents(), framework.WithProtection(), framework.WithMode(framework.EphemeralSequential))
		require.NoError(t, err)
		require.Regexp(t, `^/app/_c_.*-a\d{10}$`, p.Path, "a path that begins with the chroot's text (CURATOR-666)")
		require.NoError(t, c.Delete(ctx, p.Path, framework.AnyVersion))

		_, _, w, err := c.GetW(ctx, "/x")
		require.NoError(t, err)
		_, err = c.Set(ctx, "/x", []byte("1"), 0)
		require.NoError(t, err)
		ev, err := w.Event()
		require.NoError(t, err)
		require.Equal(t, "/x", ev.Path)

		names, _, err := c.Children(ctx, "/")
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"x", "app"}, names)
		_, _, w, err = c.ChildrenW(ctx, "/")
		require.NoError(t, err)
		require.NoError(t, c.Delete(ctx, "/x", framework.AnyVersion))
		ev, err = w.Event()
		require.NoError(t, err)
		require.Equal(t, "/", ev.Path)

		_, _, err = c.Get(ctx, "/gone")
		require.ErrorContains(t, err, "get /gone: ")
		require.NotContains(t, err.Error(), "/app/a")
	})
}

// Paths of nodes, valid and not. The rules are the rules of PathUtils.validatePath.
var badPaths = map[string]string{
	"empty": "", "relative": "a", "trailing slash": "/a/", "two slashes": "/a//b", "only slashes": "//",
	"dot": "/a/./b", "two dots": "/a/../b", "ends with a dot": "/.", "ends with two dots": "/a/..",
	"NUL": "/a\x00b", "control": "/a\x1fb", "delete": "/a\x7f", "C1": "/a\u0080", "C1 end": "/a\u009f",
	"private use": "/a\uf000", "specials": "/a\ufff0", "not UTF-8": "/a\xff", "surrogate pair in Java": "/a\U0001F600",
}

var goodPaths = []string{
	"/", "/a", "/a/b/c", "/a.b", "/...", "/.a", "/a b", "/zürich", "/日本", "/a\u00a0", "/\uf900", "/\uffef", "/" + strings.Repeat("x", 2000),
}

func TestValidatePath(t *testing.T) {
	for name, path := range badPaths {
		t.Run(name, func(t *testing.T) { require.ErrorIs(t, framework.ValidatePath(path), zk.ErrInvalidPath) })
	}
	for _, path := range goodPaths {
		require.NoError(t, framework.ValidatePath(path), "%q", path)
	}
}

func TestInvalidPathsAreRefusedByEveryOperationAndNothingIsSent(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		ctx := t.Context()
		for name, path := range badPaths {
			for op, call := range everyOperation(c) {
				err := call(ctx, path)
				var opErr *framework.OpError
				require.ErrorAs(t, err, &opErr, "%s %s", op, name)
				require.ErrorIs(t, err, zk.ErrInvalidPath, "%s %s", op, name)
				require.Equal(t, path, opErr.Path)
			}
		}
		require.Empty(t, ops(srv))
	})
}

func TestNodeDataMayBeEmptyOrNil(t *testing.T) {
	bubble(t, func(t *testing.T, _ *zktest.Server, c *framework.Client) {
		for i, data := range [][]byte{nil, {}, make([]byte, 900_000)} {
			path := fmt.Sprintf("/n%d", i)
			_, err := c.Create(t.Context(), path, data)
			require.NoError(t, err)
			got, _, err := c.Get(t.Context(), path)
			require.NoError(t, err)
			require.Len(t, got, len(data))
		}
	})
}

// A request that the server cannot take must not take the connection's other
// requests with it for ever.
func TestRequestThatIsTooLongFails(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		long := make([]byte, 2<<20)
		longACL := []zk.ACL{{Perms: zk.PermAll, Scheme: "world", ID: string(long)}}
		longPath := "/" + strings.Repeat("x", 2<<20)
		_, create := c.Create(t.Context(), "/x", long)
		_, upsert := c.Create(t.Context(), "/n", long, framework.WithOverwrite(0))
		_, protected := c.Create(t.Context(), "/x", long, framework.WithProtection())
		_, ephemeral := c.Create(t.Context(), "/x", long, framework.WithMode(framework.Ephemeral))
		_, set := c.Set(t.Context(), "/n", long, framework.AnyVersion)
		_, setACL := c.SetACL(t.Context(), "/n", longACL, 0)
		_, transaction := c.Transaction(t.Context(), framework.SetOp("/n", long, 0))
		_, _, get := c.Get(t.Context(), longPath)
		remove := c.Delete(t.Context(), longPath, framework.AnyVersion, framework.WithChildren(), framework.WithGuarantee())
		for i, err := range []error{create, upsert, protected, ephemeral, set, setACL, transaction, get, remove} {
			require.ErrorIs(t, err, framework.ErrRequestTooLarge, "%d", i)
			require.ErrorIs(t, err, zk.ErrShortBuffer, "%d: the library's name for it", i)
			require.NotErrorIs(t, err, framework.ErrOutcomeUnknown, "%d", i)
		}
		require.NoError(t, c.Sync(t.Context(), "/"))
		require.Equal(t, 1, srv.CountRequests(zktest.OpCreate)+srv.CountRequests(zktest.OpSetData))
	})
}
