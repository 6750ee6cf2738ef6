package discovery

import (
	"bytes"
	"slices"
	"sync"
)

// wanted is what a node is to say.
type wanted struct {
	instance Instance // the user's
	failing  bool     // the health check wants it drained
	data     []byte   // what the codec makes of both
}

// wishes is what a node was told to say, oldest first, since it was last known to
// say so. The server may refuse some of it, when nobody waits for it any more.
type wishes struct {
	mu  sync.Mutex
	all []wanted
}

// mostWishes is more than a persistent node keeps for the case of refusals.
const mostWishes = 16

func (w *wishes) add(next wanted) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.all) == mostWishes {
		w.all = slices.Delete(w.all, 1, 2) // the first one is what the node has
	}
	w.all = append(w.all, next)
}

// written notes that the node says the newest one.
func (w *wishes) written(newest wanted) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = []wanted{newest}
}

// of returns the newest one with the data that the node is to have.
func (w *wishes) of(data []byte) wanted {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range slices.Backward(w.all) {
		if bytes.Equal(one.data, data) {
			return one
		}
	}
	return w.all[0]
}
