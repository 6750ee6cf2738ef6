package nodes

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/state"
)

// look is a look at the node, with a watch for its next change. The watch does
// not end with the life of the persistent node: as long as it waits, and the
// connection holds, the node is as it was seen. So it may be deleted without
// another look, which uses the watch up.
type look struct {
	version int32
	watch   *framework.Watch
	trusted context.Context // it ends when the connection is interrupted after the look
}

// lookW looks at the node. Who uses the look stops its watch.
func (k *keeper) lookW(ctx context.Context) (there bool, stat *zk.Stat, seen *look, err error) {
	seen = &look{trusted: k.session.Trusted(state.StandardPolicy)}
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	there, stat, seen.watch, err = k.client.ExistsW(watching, k.node)
	if !stop() && err == nil { // the watch is stopped
		err = reason.OfContext(ctx)
	}
	if err != nil {
		cancel()
	}
	if there {
		seen.version = stat.Version
	}
	return there, stat, seen, err
}

// isOfNow reports whether the node is as it was seen.
func (l *look) isOfNow() bool {
	return l != nil && l.trusted.Err() == nil && !isClosed(l.watch.Done())
}

func (l *look) stop() {
	if l != nil {
		l.watch.Stop()
	}
}
