package lockloop

import (
	"context"
	"errors"
	"path"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// Fits says whether so many children are few enough for all of them to be admitted, as those of a semaphore's leases. If
// watch is asked for, changed, if it is not nil, is done when the answer may be another although the children are the
// same. All that wait watch the same children: there should be one of them at a time.
type Fits func(ctx context.Context, children int, watch bool) (fits bool, changed *framework.Watch, err error)

// stepInCrowd looks at the crowd, and waits for a change of it if that is what it takes. The first look is without
// watches, because it is enough as a rule.
func (p *place) stepInCrowd(ctx context.Context) error {
	l := p.loop
	children, err := p.children(ctx)
	if err := p.checkCrowd(children, err); err != nil {
		return err
	}
	p.queued(len(children)-1, len(children))
	fits, _, err := l.Fits(ctx, len(children), false)
	switch {
	case err != nil:
		return err
	case fits:
		return granted(ctx)
	case !p.wait:
		p.noteCrowd(children)
		p.readHolder(ctx)
		return errHeld
	}
	return p.waitInCrowd(ctx)
}

func (p *place) waitInCrowd(ctx context.Context) error {
	l := p.loop
	children, _, watch, err := l.Client.ChildrenW(ctx, l.Path)
	if err == nil {
		defer watch.Stop()
	}
	if err := p.checkCrowd(children, err); err != nil {
		return err
	}
	fits, changed, err := l.Fits(ctx, len(children), true)
	if err != nil {
		return err
	}
	var limit <-chan struct{}
	if changed != nil {
		defer changed.Stop()
		limit = changed.Done()
	}
	if fits {
		return granted(ctx)
	}
	p.noteCrowd(children)
	p.readNewHolder(ctx)
	p.waiting(Other{})
	err = p.await(ctx, watch.Done(), limit)
	p.woken(err, watch)
	return err
}

// ErrIncomplete means that one of the nodes that must be beside ours is gone.
var ErrIncomplete = errors.New("another of our nodes is gone")

// checkCrowd returns an error if the children were not read, or our nodes are not good any more.
func (p *place) checkCrowd(children []string, err error) error {
	switch {
	case p.node.Session.Context().Err() != nil, errors.Is(err, zk.ErrNoNode):
		return errStale
	case err != nil:
		return err
	case !slices.Contains(children, path.Base(p.node.Path)):
		return errStale
	}
	for _, name := range p.loop.Beside {
		if !slices.Contains(children, name) {
			return ErrIncomplete
		}
	}
	return nil
}

// noteCrowd takes down how many are there and, to name one of them for all, who
// of the others comes first.
func (p *place) noteCrowd(children []string) {
	ours := path.Base(p.node.Path)
	var first Contender
	for c := range Contenders(children, p.loop.Kinds...) {
		if c.Node != ours && (first.Node == "" || compare(c, first) < 0) {
			first = c
		}
	}
	p.noteHolder(first.Node)
	p.seen.Ahead = len(children) - 1
}
