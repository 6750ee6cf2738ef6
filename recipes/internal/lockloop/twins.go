package lockloop

import (
	"path"
	"slices"
	"strings"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/znode"
)

// withoutTwins deletes other nodes of the create that has made ours, and
// returns the names without them.
//
// There is one at most: Create looks for its node before it asks for another.
// If a server has misled it, we would wait for ourselves, and all others behind
// us, for as long as our session lives. The id in the names is new for each
// create, so no node of another contender of this client has it.
func (c *contender) withoutTwins(names []string) []string {
	ours := path.Base(c.node.Path)
	id := createID(ours, c.loop.nodes.Kind)
	if id == "" {
		return names
	}
	return slices.DeleteFunc(names, func(name string) bool {
		if name == ours || !strings.HasPrefix(name, id) {
			return false
		}
		framework.Extend(c.loop.nodes.Client).DeleteInBackground(znode.Join(c.loop.nodes.Path, name))
		c.mayHaveTwin = true
		return true
	})
}

// createID returns the part of a node's name that its create has made up. It is
// empty if there is none.
func createID(name, kind string) string { return name[:max(0, strings.LastIndex(name, kind))] }
