package lockloop

import (
	"context"
	"path"
	"slices"

	"github.com/gocurator/curator/framework"
)

// Alone looks whether an admitted node is alone among the nodes of these kinds. It
// may be of another kind. If it is alone, the watch fires as soon as that may have
// changed, and when it cannot tell any more. Otherwise the watch is nil, and so it
// is if there is no answer. The request ends with ctx. The watch does not, and
// nobody stops it: the deletion of the node makes it fire, which saves a request.
// If the node is gone already, Alone stops the watch.
func (l *Loop) Alone(ctx context.Context, node framework.Created, kinds ...string) *framework.Watch {
	var names []string
	watch, err := watchBeyond(ctx, func(under context.Context) (w *framework.Watch, err error) {
		names, _, w, err = l.nodes.Client.ChildrenW(under, l.nodes.Path)
		return w, err
	})
	name := path.Base(node.Path)
	switch {
	case err != nil:
		return nil
	case !slices.Contains(names, name):
		watch.Stop()
		return nil
	case !isAlone(name, names, kinds):
		return nil
	}
	return watch
}

// isAlone reports whether a listing has no contender but this one.
func isAlone(node string, names, kinds []string) bool {
	for c := range InListing(names, kinds...).each {
		if c.Node != node {
			return false
		}
	}
	return true
}
