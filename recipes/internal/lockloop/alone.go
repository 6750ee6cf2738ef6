package lockloop

import (
	"context"
	"path"

	"github.com/gocurator/curator/framework"
)

// Alone looks whether an admitted node is alone in the queue. If it is, the
// watch fires as soon as that may have changed, and when it cannot tell any
// more. Otherwise the watch is nil, and so it is if there is no answer. The
// request ends with ctx. The watch does not, and nobody stops it: the deletion
// of the node makes it fire, which saves a request.
func (l *Loop) Alone(ctx context.Context, node framework.Created) *framework.Watch {
	var names []string
	watch, err := watchBeyond(ctx, func(under context.Context) (w *framework.Watch, err error) {
		names, _, w, err = l.nodes.Client.ChildrenW(under, l.nodes.Path)
		return w, err
	})
	if err != nil || !isAlone(path.Base(node.Path), names, l.nodes.Kinds) {
		return nil
	}
	return watch
}

// isAlone reports whether a listing has this contender and no other.
func isAlone(node string, names, kinds []string) bool {
	found := false
	for c := range Entries(names, kinds...) {
		if c.Node != node {
			return false
		}
		found = true
	}
	return found
}
