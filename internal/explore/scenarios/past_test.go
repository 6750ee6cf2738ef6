package scenarios

import (
	"fmt"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/testing/zktest"
)

// past is what was written. Each write has different data, so that the tree identifies
// the write: a server does one write for each move.
type past struct {
	world *explore.World

	mu      sync.Mutex
	writes  map[string]map[int64]zktest.Node // by data, and by the id of the transaction
	refused map[string]error                 // data that is not written, and what its caller was told
}

func newPast(w *explore.World) *past {
	p := &past{world: w, writes: map[string]map[int64]zktest.Node{}, refused: map[string]error{}}
	w.Always(p.see)
	w.AtEnd(p.see)
	return p
}

// see looks at what is there, and whether it may be.
func (p *past) see(tree explore.Tree) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range tree {
		data := string(n.Data)
		if p.writes[data] == nil {
			p.writes[data] = map[int64]zktest.Node{}
		}
		p.writes[data][n.Stat.Mzxid] = n
	}
	for data, err := range p.refused {
		if len(p.writes[data]) > 0 {
			return fmt.Errorf("%s was written, and its caller was told %w", data, err)
		}
	}
	return nil
}

// told notes what the caller of a write was told: that it was done in that
// transaction, or that it was not done, or that nobody knows. It returns the node
// that was written. path is "" if the caller does not know it.
func (p *past) told(a *explore.Actor, data, path string, zxid int64, err error) (zktest.Node, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		if !reason.Is(err, framework.ErrOutcomeUnknown) {
			p.refused[data] = err
		}
		return zktest.Node{}, false
	}
	n, is := p.writes[data][zxid]
	if !is || path != "" && n.Path != path {
		p.world.Fail("%s was told that transaction %d has written %s to %s; there were %v", a.Name(), zxid, data, path, p.writes[data])
	}
	return n, is
}

// once checks at the end that the data was not written twice.
func (p *past) once(data string) {
	p.world.AtEnd(func(explore.Tree) error { return p.isOnce(data) })
}

func (p *past) isOnce(data string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.writes[data]) > 1 {
		return fmt.Errorf("%s was written twice: %v", data, p.writes[data])
	}
	return nil
}

// isChanged is a check for the end: somebody has changed a node, which was made
// with that data.
func (p *past) isChanged(path, data string) func(explore.Tree) error {
	return func(tree explore.Tree) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if n := tree[path]; string(n.Data) == data && len(p.writes[data]) == 1 {
			return fmt.Errorf("nobody has changed %v", n)
		}
		return nil
	}
}
