package watches

import (
	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
)

// Deletion is a request of the session to delete a node that has a watch. The event
// comes before the answer, and does not say whose request has deleted the node. The
// answer does.
type Deletion struct {
	done chan struct{} // closed when the request is answered, or will not be
	ok   bool          // it has deleted the node; set before done is closed
}

// Done is closed when the request is answered, or when no answer can come any more.
func (d *Deletion) Done() <-chan struct{} { return d.done }

// Succeeded reports whether the request has deleted the node, once Done is closed.
func (d *Deletion) Succeeded() bool { return d.ok }

// Deleting notes that the session is about to send the deletion of a node. The
// caller passes answered on with the request, which calls it once, in order with
// the events, or calls it if the request is not sent.
//
// It returns nil if there is no watch that is set, which is usual: a server answers
// the reads behind the request after it, so a watch that is set later hears nothing
// of it. One whose read is under way is left out. If the read is not sent yet, the
// watch would be on a node that somebody makes anew.
func (ws *Session) Deleting(path string) (answered func(code int32, err error)) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.shared[transport.Watch{Path: path, Table: transport.Data}]
	if w == nil || !w.isSet {
		return nil
	}
	w.deletion = &Deletion{done: make(chan struct{})}
	return w.deletion.answered
}

func (d *Deletion) answered(code int32, err error) {
	d.ok = err == nil && code == proto.CodeOK
	close(d.done)
}

// Deletion returns the request of the session that may have deleted the node, or
// nil. It is for when the watch is done.
func (w *Watch) Deletion() *Deletion {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	return w.deletion
}
