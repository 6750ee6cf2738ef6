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
	twins := c.loop.nodes.deleteTwins(c.node, names)
	if twins == nil {
		return names
	}
	c.mayHaveTwin = true
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(twins, name) })
}

// deleteTwins deletes the other nodes of the create that has made a node, and
// returns their names.
func (n Nodes) deleteTwins(node framework.Created, names []string) (twins []string) {
	ours := path.Base(node.Path)
	id := createID(ours, n.Kind)
	if id == "" {
		return nil
	}
	for _, name := range names {
		if name != ours && strings.HasPrefix(name, id) {
			framework.Extend(n.Client).DeleteInBackground(znode.Join(n.Path, name))
			twins = append(twins, name)
		}
	}
	return twins
}

// createID returns the part of a node's name that its create has made up. It is
// empty if there is none.
func createID(name, kind string) string { return name[:max(0, strings.LastIndex(name, kind))] }
