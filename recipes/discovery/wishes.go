package discovery

import (
	"bytes"
	"slices"
)

// wanted is what a node is to say.
type wanted struct {
	instance Instance
	data     []byte // what the codec makes of it
}

// mostEarlier is more than a persistent node keeps for the case of refusals.
const mostEarlier = 14

// with returns wishes and one more. The first one is what the node has, which may have
// been written when nobody waited for it any more.
func (r *Registration) with(all []wanted, next wanted) *[]wanted {
	if data, ok := r.node.Written(); ok {
		has := func(w wanted) bool { return bytes.Equal(w.data, data) }
		all = all[max(0, slices.IndexFunc(all, has)):]
	}
	all = slices.Concat(all[:1], all[max(1, len(all)-mostEarlier):], []wanted{next})
	return &all
}

// wanted returns what the node says, or is to say: the newest wish with the data
// that the node is to have. The data come first: the wish for them is there then.
func (r *Registration) wanted() wanted {
	data, all := r.node.Data(), *r.wishes.Load()
	for _, w := range slices.Backward(all) {
		if bytes.Equal(w.data, data) {
			return w
		}
	}
	return all[0]
}
