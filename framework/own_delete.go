package framework

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// ByOwnDelete reports whether the event is the deletion of the node by a Delete of
// this client, in the session of the watch, which the server has answered on the
// connection that has told of the event. So the session lived at that moment: the
// node was not deleted by its end. All events of changes before that have ended their
// watches already.
//
// The answer comes right behind the event. ByOwnDelete waits for it, or until ctx or
// the session ends. It does not say so of a Delete whose reply was lost or that
// somebody else has come before, nor of one WithGuarantee that goes on in the
// background. If somebody has deleted the node and made it anew while the watch's
// event was on its way, the Delete may have deleted that one. It is for a watch of
// GetW or ExistsW that is done.
func (w *Watch) ByOwnDelete(ctx context.Context) bool {
	<-w.Done()
	d := w.shared.Deletion()
	if ev, err := w.shared.Event(); d == nil || err != nil || ev.Type != zk.EventNodeDeleted {
		return false
	}
	select {
	case <-d.Done():
		return d.Succeeded()
	case <-ctx.Done():
	case <-w.session.ctx.Done():
	}
	return false
}
