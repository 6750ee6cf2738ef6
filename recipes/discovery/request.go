package discovery

import (
	"sync"
	"sync/atomic"
)

// Request is a request to an instance that a Picker has picked: it is under way
// from Pick to the first call of Done. It may be copied. The zero Request is to
// nobody, and its Done does nothing.
type Request struct {
	picker *Picker
	record *record
	turn   *atomic.Uint64
	number uint64 // what turn has until this one ends
}

// turns has numbers that are used for one request after the other, so that a pick
// allocates nothing. A number grows with the end of a request, so that the call of
// a Done that comes again, or late, ends no other request.
var turns = sync.Pool{New: func() any { return new(atomic.Uint64) }}

// begin begins a request.
func (p *Picker) begin(r *record) Request {
	turn := turns.Get().(*atomic.Uint64)
	return Request{p, r, turn, turn.Load()}
}

// Done ends the request, with its error or nil. The first call counts, whichever
// copy's it is, and all others do nothing: a caller may defer Done(nil), and call it
// with an error before.
func (r Request) Done(err error) {
	if r.turn == nil || !r.turn.CompareAndSwap(r.number, r.number+1) {
		return
	}
	turns.Put(r.turn)
	r.picker.finished(r.record, err)
}
