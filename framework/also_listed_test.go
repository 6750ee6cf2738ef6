package framework_test

import (
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// The children of another node come in the same round trip, too.
func TestAlsoSiblingsComeInTheSameRoundTrip(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, root *framework.Client) {
		c, err := root.Namespace("/ns")
		require.NoError(t, err)
		for _, path := range []string{"/p", "/other", "/other/1", "/other/2", "/empty"} {
			mustCreate(t, c, path, "")
		}
		srv.Inject(zktest.Rule{Op: zktest.OpAny, Times: -1, Do: zktest.DelayReply(time.Second)})
		for path, want := range map[string]framework.SiblingsRead{
			"/other": {Names: []string{"1", "2"}}, "/empty": {Names: []string{}}, "/none": {Err: zk.ErrNoNode},
		} {
			read := framework.SiblingsRead{Names: []string{"old"}}
			begin := time.Now()
			n, err := c.Create(t.Context(), "/p/n-", nil, framework.WithMode(framework.EphemeralSequential),
				framework.WithProtection(), framework.WithParents(), framework.Extend(c).AlsoSiblings(path, &read))
			require.NoError(t, err)
			require.Equal(t, time.Second, time.Since(begin))
			require.Contains(t, n.Siblings, n.Path[len("/p/"):])
			slices.Sort(read.Names)
			require.Equal(t, want, read)
		}
	})
}

// A list that could not be had leaves nothing, also nothing of a creation before,
// and takes nothing from the other list, or from the creation.
func TestAlsoSiblingsThatCannotBeHad(t *testing.T) {
	for name, do := range map[string]zktest.Action{
		"refused": zktest.Fail(zktest.ErrNoAuth), "request lost": zktest.DropRequest(), "reply lost": zktest.DropReply(), "mute": zktest.Blackhole(),
	} {
		for of, rule := range map[string]zktest.Rule{
			"creation": {Op: zktest.OpCreate}, "siblings": {Op: zktest.OpGetChildren, Path: "/p"}, "other": {Op: zktest.OpGetChildren, Path: "/other"},
		} {
			if of == "creation" && name != "reply lost" {
				continue // there is no node, or it is made anew
			}
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				for _, path := range []string{"/p", "/other", "/other/1"} {
					mustCreate(t, c, path, "")
				}
				read := framework.SiblingsRead{Names: []string{"old"}}
				rule.Do = do
				srv.Inject(rule)
				n, err := c.Create(t.Context(), "/p/n-", nil, framework.WithMode(framework.EphemeralSequential),
					framework.WithProtection(), framework.Extend(c).AlsoSiblings("/other", &read))
				require.NoError(t, err)
				require.Len(t, srv.Children("/p"), 1)
				require.Nil(t, read.Err)
				switch {
				case of == "siblings" && name == "refused":
					require.Nil(t, n.Siblings)
					require.Equal(t, []string{"1"}, read.Names)
				case of == "other":
					require.Len(t, n.Siblings, 1, name)
					require.Nil(t, read.Names, name)
				default:
					require.Nil(t, n.Siblings, "%s of %s", name, of)
					require.Nil(t, read.Names, "%s of %s", name, of)
				}
			})
		}
	}
}
