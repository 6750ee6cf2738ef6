package scenarios

import (
	"time"

	"github.com/gocurator/curator/internal/explore"
)

// late fails the run if the node says for too long what is not so: for longer than an
// outage that a client has to notice by itself.
func (k *kept) late(w *explore.World) {
	const bound = 8 * time.Second
	var since time.Time // of what the node says now, or zero if that is so
	w.Always(func(tree explore.Tree) error {
		err := k.check(tree)
		switch {
		case err == nil:
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case min(time.Since(since), w.Quiet()) > bound:
			return err
		}
		return nil
	})
}
