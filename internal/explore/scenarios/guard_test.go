package scenarios

import (
	"fmt"
	"time"

	"github.com/gocurator/curator/recipes/discovery"
)

// The loss guard keeps instances if more than guarded of a hundred are gone.
const (
	guarded  = 50
	keptFor  = 5 * grace
	rounding = 10 * time.Millisecond
)

// guard checks what a loss guard does to the instances of a directory. It reckons
// with the time in which the directory was not interrupted, of which a look now and
// then tells no more than the least and the most that it can be.
type guard struct {
	looked      time.Time
	interrupted bool
	least, most time.Duration

	// These are of the last look at a directory that was not interrupted.
	gone     map[string]vanished // instances that are shown without a node
	suspects map[string]bool
	acts     bool // too many were gone
}

// vanished is what the clocks were when the node of an instance had gone.
type vanished struct{ least, most time.Duration }

// pass notes the time since the last look.
func (g *guard) pass(interrupted bool) {
	passed := time.Since(g.looked)
	if !g.interrupted && !interrupted {
		g.least += passed
	}
	if !g.interrupted || !interrupted {
		g.most += passed
	}
	g.looked, g.interrupted = time.Now(), interrupted
}

// check compares what a directory shows that is not interrupted with the tree.
func (g *guard) check(want listing, s *discovery.Snapshot) error {
	gone, suspects, shown := map[string]vanished{}, map[string]bool{}, map[string]bool{}
	for _, e := range s.Entries {
		shown[e.ID] = true
		_, there := want.instances[e.ID]
		if e.Suspect {
			suspects[e.ID] = true
		}
		if there && e.Suspect {
			return fmt.Errorf("suspects %s, whose node is there", e.ID)
		}
		if there {
			continue
		}
		since, known := g.gone[e.ID]
		if !known {
			since = vanished{g.least, g.most}
		}
		gone[e.ID] = since
		if limit := keeps(e); g.least-since.least > limit {
			return fmt.Errorf("keeps %s for longer than %v", e.ID, limit)
		}
	}
	if len(suspects) != s.Suspects {
		return fmt.Errorf("says that %d instances are suspect, and %d are", s.Suspects, len(suspects))
	}
	err := g.checkLeft(want, shown)
	g.gone, g.suspects, g.acts = gone, suspects, len(gone)*100 > guarded*len(shown)
	return err
}

func keeps(e *discovery.Entry) time.Duration {
	if e.Suspect {
		return keptFor
	}
	return grace
}

// checkLeft checks that no instance is left out that the guard should have kept:
// one that was suspect, or one of too many that were gone before and are gone now.
func (g *guard) checkLeft(want listing, shown map[string]bool) error {
	missing, all := 0, len(shown)
	for id := range g.gone {
		if _, there := want.instances[id]; !there {
			missing++
		}
		if !shown[id] {
			all++
		}
	}
	acts := g.acts && missing*100 > guarded*all
	for id, since := range g.gone {
		_, there := want.instances[id]
		early := g.most-since.most < keptFor-rounding
		if !there && !shown[id] && early && (g.suspects[id] || acts) {
			return fmt.Errorf("has %s no longer, which went %v ago", id, g.most-since.most)
		}
	}
	return nil
}
