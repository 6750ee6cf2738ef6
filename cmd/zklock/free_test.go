package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// czxidOf returns the czxid of a node as show has it.
func czxidOf(t *testing.T, c *framework.Client, path string) string {
	t.Helper()
	_, stat, err := c.Exists(t.Context(), path)
	require.NoError(t, err)
	return fmt.Sprintf("%#x", stat.Czxid)
}

// The node of a holder is deleted, and the record says whose it was and why.
func TestFree(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		orders, billing := s.client(t), s.client(t)
		for name, format := range map[string]string{"free.table": "table", "free.json": "json"} {
			require.NoError(t, orders.Delete(t.Context(), "/jobs/bill", framework.AnyVersion, framework.WithChildren(), framework.WithMissingOK()))
			held := node(t, orders, "/jobs/bill/"+guid(1)+"lock-", identity("orders", 4711))
			next := node(t, billing, "/jobs/bill/"+guid(2)+"lock-", identity("billing", 4712))
			czxid := czxidOf(t, orders, held)
			got := s.zklock(t, "free", held, "--czxid", czxid, "--yes", "--reason", "web-1 is gone", "-o", format)
			require.Zero(t, got.status, got.err)
			require.Empty(t, got.err)
			out := strings.ReplaceAll(got.out, "czxid "+czxid, "czxid 0x8")
			out = strings.ReplaceAll(out, fmt.Sprintf(`"fencing_token":%d`, mustInt(t, czxid)), `"fencing_token":8`)
			out = sequence.ReplaceAllString(out, "lock-0000000000")
			requireGolden(t, name, out)
			require.Equal(t, []string{next}, pathsIn(s.Queue("/jobs/bill")))
		}
	})
}

var sequence = regexp.MustCompile(`lock-[0-9]{10}`)

func mustInt(t *testing.T, text string) (n int64) {
	t.Helper()
	_, err := fmt.Sscanf(text, "0x%x", &n)
	require.NoError(t, err)
	return n
}

func pathsIn(nodes []zktest.Node) (paths []string) {
	for _, n := range nodes {
		paths = append(paths, n.Path)
	}
	return paths
}

// Another incarnation, a node of another kind, and one that is gone stay as they
// are.
func TestFreeRefusesOtherNodes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		c := s.client(t)
		held := node(t, c, "/jobs/bill/"+guid(1)+"lock-", identity("orders", 4711))
		_, err := c.Create(t.Context(), "/config", []byte("precious"))
		require.NoError(t, err)
		for args, want := range map[string]string{
			held + " --czxid 1":                                   "is a different node now, with czxid " + czxidOf(t, c, held) + ": nothing was deleted",
			"/config --czxid " + czxidOf(t, c, "/config"):         "/config belongs to no lock",
			"/jobs/bill --czxid " + czxidOf(t, c, "/jobs/bill"):   "/jobs/bill belongs to no lock",
			"/jobs/bill/" + guid(2) + "lock-0000000007 --czxid 1": "is gone",
		} {
			before := s.Tree()
			got := s.zklock(t, append([]string{"free", "--yes"}, strings.Fields(args)...)...)
			require.Equal(t, refused, got.status, got.err)
			require.Contains(t, got.err, want)
			require.Empty(t, got.out)
			require.Equal(t, len(before), len(s.Tree()))
		}
	})
}

// A node that is deleted and created anew right before a request of free is
// another one, whichever request that is, and also if its name, its data and its
// version are the same. Nothing is done to it.
func TestFreeNeverDeletesAnotherIncarnation(t *testing.T) {
	for _, name := range []string{"web-1", "0af7651916cd43dd8448eb211c80319c-1732500000"} { // the second one is of kazoo's Party
		hits := 0
		for number := 1; ; number++ { // which of the requests it is
			s := newStand(t)
			c, other := s.client(t), s.client(t)
			member := node(t, c, "/up/"+name, "10.0.0.7:80")
			czxid := czxidOf(t, c, member)
			var anew zktest.Node
			replace := func() {
				was, _ := s.Node(member)
				require.NoError(t, s.Delete(member))
				node(t, other, member, "10.0.0.7:80")
				for range was.Stat.Version {
					require.NoError(t, s.Set(member, was.Data))
				}
				anew, _ = s.Node(member)
			}
			seen := 0
			s.Inject(zktest.Rule{Times: -1, Do: zktest.Call(func(r zktest.Request) {
				if r.Op != zkinside.OpCloseSession && r.Session != c.SessionID() && r.Session != other.SessionID() {
					if seen++; seen == number {
						replace()
					}
				}
			})})
			got := s.zklock(t, "free", member, "--czxid", czxid, "--yes")
			if anew.Path == "" {
				require.Zero(t, got.status, got.err)
				break // there were not so many
			}
			hits++
			after, exists := s.Node(member)
			require.Equal(t, refused, got.status, got.err)
			require.Contains(t, got.err, "is a different node now")
			require.True(t, exists, "request %d", number)
			require.Equal(t, anew, after, "request %d", number)
		}
		require.Greater(t, hits, 4)
	}
}

// A node with children stays, and the status says that it is what is there.
func TestFreeOfANodeWithChildren(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		c := s.client(t)
		turn := "/jobs/" + guid(1) + "lock-0000000001"
		_, err := c.Create(t.Context(), turn+"/child", nil, framework.WithParents())
		require.NoError(t, err)
		got := s.zklock(t, "free", turn, "--czxid", czxidOf(t, c, turn), "--yes")
		require.Equal(t, result{refused, "", "zklock: " + turn + " has children: nothing was deleted\n"}, got)
		require.Equal(t, []string{"child"}, s.Children(turn))
	})
}

// Other nodes may come and go beside the node meanwhile. Nothing else of free is
// left.
func TestFreeBesideOthers(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		c := s.client(t)
		member := node(t, c, "/up/web-1", "10.0.0.7:80")
		comes := func(zktest.Request) { node(t, c, "/up/n-", "") }
		others := s.Inject(zktest.Rule{Op: zktest.OpMulti, Path: member, Times: 3, Do: zktest.Call(comes)})
		got := s.zklock(t, "free", member, "--czxid", czxidOf(t, c, member), "--yes")
		require.Zero(t, got.status, got.err)
		require.Equal(t, 3, others.Hits())
		require.Equal(t, []string{"n-0000000001", "n-0000000002", "n-0000000003"}, s.Children("/up"))
	})
}

// A server that counts no further does not tell whether a node was created anew.
func TestFreeAtTheEndOfTheNumbers(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		c := s.client(t)
		member := node(t, c, "/up/web-1", "10.0.0.7:80")
		require.NoError(t, zkinside.Of(s.Server).SetSequence("/up", math.MaxInt32))
		got := s.zklock(t, "free", member, "--czxid", czxidOf(t, c, member), "--yes")
		require.Equal(t, result{
			refused, "", "zklock: /up/web-1: the server cannot identify the node: nothing was deleted\n",
		}, got)
		require.Len(t, s.Children("/up"), 1)
	})
}

// The command shows the node that the user has named, and deletes that node.
func TestFreeShowsTheNodeThatItDeletes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		c := s.client(t)
		member := node(t, c, "/up/web-1", "10.0.0.7:80")
		_, stat, err := c.Exists(t.Context(), member)
		require.NoError(t, err)
		s.Inject(zktest.Rule{Op: zktest.OpGetData, Path: member, Do: zktest.Call(func(zktest.Request) {
			require.NoError(t, s.Delete(member))
			node(t, c, member, "10.0.0.8:80")
		})})
		var out bytes.Buffer
		e := &env{streams: streams{strings.NewReader("y\n"), &out, &out}, settings: defaults(), args: []string{member}}
		err = e.free(t.Context(), s.client(t), stat.Czxid, "", false)
		require.ErrorContains(t, err, "is a different node now")
		require.Empty(t, out.String(), "it was not asked")
		require.Equal(t, "10.0.0.8:80", data(t, s, member))
	})
}

// A revocation between the look and the delete is no obstacle.
func TestFreeOfANodeThatIsWritten(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		c := s.client(t)
		held := node(t, c, "/jobs/bill/"+guid(1)+"lock-", identity("orders", 4711))
		written := s.Inject(zktest.Rule{Op: zktest.OpMulti, Path: held, Times: 1, Do: zktest.Call(func(zktest.Request) {
			require.NoError(t, s.Set(held, []byte("__REVOKE__")))
		})})
		got := s.zklock(t, "free", held, "--czxid", czxidOf(t, c, held), "--yes")
		require.Zero(t, got.status, got.err)
		require.Equal(t, 1, written.Hits())
		require.Empty(t, s.Queue("/jobs/bill"))
	})
}

// With a path all holders are asked, and with a node its owner.
func TestRevoke(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		c := s.client(t)
		first := node(t, c, "/rw/"+guid(1)+"__READ__", identity("orders", 1))
		second := node(t, c, "/rw/"+guid(2)+"__READ__", identity("orders", 2))
		waiter := node(t, c, "/rw/"+guid(3)+"__WRIT__", identity("orders", 3))
		got := s.zklock(t, "revoke", waiter)
		require.Equal(t, result{0, "asked orders@web-1/3 to give up /rw (node " + waiter + ")\n", ""}, got)
		require.Equal(t, "__REVOKE__", data(t, s, waiter))
		require.NotEqual(t, "__REVOKE__", data(t, s, first))
		got = s.zklock(t, "revoke", "/rw")
		require.Zero(t, got.status, got.err)
		require.Equal(t, 2, strings.Count(got.out, "asked orders@web-1/"))
		require.Equal(t, "__REVOKE__", data(t, s, first))
		require.Equal(t, "__REVOKE__", data(t, s, second))
	})
}

// A holder releases its lock between the look and the request. It was not
// asked, and the command says so. The others are asked all the same. A holder
// that releases its lock because it was asked is one that was.
func TestRevokeOfANodeThatIsGone(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		c := s.client(t)
		first := node(t, c, "/rw/"+guid(1)+"__READ__", identity("orders", 1))
		second := node(t, c, "/rw/"+guid(2)+"__READ__", identity("orders", 2))
		deleted := func(zktest.Request) { require.NoError(t, s.Delete(first)) }
		s.Inject(zktest.Rule{Op: zktest.OpSetData, Path: first, Do: zktest.Call(deleted)})
		got := s.zklock(t, "revoke", "/rw")
		require.Equal(t, result{
			refused, "asked orders@web-1/2 to give up /rw (node " + second + ")\n",
			"zklock: not asked: " + first + " is gone\n",
		}, got)

		third := node(t, c, "/rw/"+guid(3)+"__READ__", identity("orders", 3))
		deleted = func(zktest.Request) { require.NoError(t, s.Delete(third)) }
		s.Inject(zktest.Rule{Op: zktest.OpSetData, Path: third, Do: zktest.CallAfter(deleted)})
		got = s.zklock(t, "revoke", third)
		require.Equal(t, result{0, "asked orders@web-1/3 to give up /rw (node " + third + ")\n", ""}, got)
	})
}

// The holder releases its lock while there is no connection, and the server hangs
// up when watches are set again. So nobody tells what has happened to the node.
func TestRevokeOfANodeWhoseEndIsNotTold(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		held := node(t, s.client(t), "/rw/"+guid(1)+"__READ__", identity("orders", 1))
		s.Inject(zktest.Rule{Op: zkinside.OpSetWatches, Times: -1, Do: zktest.DropRequest()})
		s.Inject(zktest.Rule{Op: zktest.OpSetData, Path: held, Do: zktest.Call(func(zktest.Request) {
			s.CutAll()
			require.NoError(t, s.Delete(held))
		})})
		got := s.zklock(t, "revoke", held)
		require.Equal(t, result{refused, "", "zklock: not asked: " + held + " is gone\n"}, got)
	})
}

func data(t *testing.T, s *stand, path string) string {
	t.Helper()
	n, ok := s.Node(path)
	require.True(t, ok, path)
	return string(n.Data)
}

// Data that is no lock's is not overwritten.
func TestRevokeRefusesOtherNodes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		c := s.client(t)
		node(t, c, "/up/web-1", "10.0.0.7:80")
		node(t, c, "/kazoo/0af7651916cd43dd8448eb211c80319c__lock__", "py")
		for _, path := range []string{"/up", "/up/web-1", "/", "/never"} {
			got := s.zklock(t, "revoke", path)
			require.Equal(t, refused, got.status, got.err)
			require.Contains(t, got.err, path+": neither a held lock nor a node of a lock")
		}
		require.Equal(t, badUsage, s.zklock(t, "revoke", "/kazoo").status)
		require.Equal(t, "10.0.0.7:80", data(t, s, "/up/web-1"))
		require.Equal(t, "py", data(t, s, "/kazoo/0af7651916cd43dd8448eb211c80319c__lock__0000000000"))
	})
}

// Without the right to delete, the status says so, and nothing is gone.
func TestFreeWithoutTheRight(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		c := s.client(t)
		_, err := c.Create(t.Context(), "/jobs", nil, framework.WithACL(zk.WorldACL(zk.PermAll&^zk.PermDelete)))
		require.NoError(t, err)
		held := node(t, c, "/jobs/"+guid(1)+"lock-", identity("orders", 4711))
		got := s.zklock(t, "free", held, "--czxid", czxidOf(t, c, held), "--yes")
		require.Equal(t, noRights, got.status, got.err)
		require.Len(t, s.Queue("/jobs"), 1)
	})
}

// The answer to the question decides. Anything but yes leaves the node alone.
func TestAsk(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, "YES\n": true, "yes": true, "n\n": false, "\n": false, "": false, "yeah\n": false} {
		e := &env{streams: streams{strings.NewReader(answer), io.Discard, io.Discard}, settings: defaults()}
		got, err := e.ask(t.Context(), "Delete? ")
		require.NoError(t, err)
		require.Equal(t, want, got, "%q", answer)
	}
}
