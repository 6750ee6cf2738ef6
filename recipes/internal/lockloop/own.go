package lockloop

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
)

// OwnWatch is the watch of a contender on its own node, with the data that the
// node had when the watch was set.
//
// It fires when the node is deleted, which saves a request, and every node is
// deleted in the end. Only the watch of a node that its holder keeps is stopped.
type OwnWatch struct {
	Data  []byte
	Watch *framework.Watch
}

// isSet reports whether the watch is there, and nothing has happened to the node
// since it was set.
func (w *OwnWatch) isSet() bool {
	if w == nil {
		return false
	}
	select {
	case <-w.Watch.Done():
		return false
	default:
		return true
	}
}

// changed is closed when something has happened to the node. It is nil if there
// is no watch.
func (w *OwnWatch) changed() <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.Watch.Done()
}

// afterChange calls f when something has happened to the node, unless the function
// returned is called before.
func (w *OwnWatch) afterChange(f func()) (stop func() bool) {
	if w == nil {
		return func() bool { return false }
	}
	return w.Watch.AfterFunc(f)
}

// watchSelf watches our own node, if that is asked for, or if it saves the next
// look at the queue. In the latter case the contender goes on without the watch
// if there is an error: it looks, as it would have done.
func (o Order) watchSelf(ctx context.Context, c *contender) (err error) {
	if c.own.isSet() {
		return nil
	}
	c.own = nil
	if !o.WatchSelf && !c.isNext {
		return nil
	}
	c.own, err = c.readOwn(ctx)
	switch {
	case reason.Is(err, zk.ErrNoNode):
		return errStale
	case err == nil || ctx.Err() == nil && !o.WatchSelf:
		return nil
	default:
		return err
	}
}

// readOwn sets a watch on our node. The request ends with ctx. The watch does
// not: it goes to the claim if we are admitted.
func (c *contender) readOwn(ctx context.Context) (*OwnWatch, error) {
	var data []byte
	watch, err := watchBeyond(ctx, func(under context.Context) (w *framework.Watch, err error) {
		data, _, w, err = c.loop.nodes.Client.GetW(under, c.node.Path)
		return w, err
	})
	if err != nil {
		return nil, err
	}
	return &OwnWatch{data, watch}, nil
}

// watchBeyond sets a watch by a request that ends with ctx. The watch does not.
func watchBeyond(ctx context.Context, set func(context.Context) (*framework.Watch, error)) (*framework.Watch, error) {
	under, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	release := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	complete := false
	defer func() { // the user's code may panic, such as a tracer
		if !complete {
			cancel(nil)
		}
	}()
	watch, err := set(under)
	if !release() {
		return nil, reason.OfContext(ctx)
	}
	if err != nil {
		return nil, err
	}
	complete = true
	return watch, nil
}
