package main

import (
	"context"
	"errors"
	"log"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/debug/curatorz"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// worker is one of several processes that can do the same work. Only the leader
// does it.
type worker struct {
	name     string
	client   *framework.Client
	selector *leader.Selector
	// When its leadership began; nil without one.
	began atomic.Pointer[time.Time]

	journal journalClient
	every   time.Duration // between heartbeats
	page    curatorz.Page // a hook of the client
}

func newWorker(client *framework.Client, path, name string) *worker {
	w := &worker{name: name, client: client}
	w.selector = leader.NewSelector(client, path, leader.WithID(name), leader.WithRequeue(w.again))
	return w
}

// run competes for leadership until ctx ends, which a SIGTERM causes. A leader
// then stops working and hands over, so that the next leader does not have to
// wait for the end of the session.
func (w *worker) run(ctx context.Context) error {
	err := w.selector.Run(ctx, w.lead)
	if ctx.Err() != nil {
		return nil // the worker was asked to stop
	}
	return err
}

// lead is the work of the leader. The context ends with the leadership, and all
// work is done under it. Each write to the journal carries the fencing token.
// So the journal can refuse a leader that was paused for so long that it does
// not know of its successor.
func (w *worker) lead(ctx context.Context) error {
	lease, _ := locks.LeaseFromContext(ctx)
	now := time.Now()
	w.began.Store(&now)
	defer w.began.Store(nil)
	beats := time.NewTicker(w.every)
	defer beats.Stop()
	for number := 1; ; number++ {
		err := w.journal.write(ctx, heartbeat{Worker: w.name, Number: number, Token: lease.FencingToken()})
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errFenced):
			return err
		case err != nil:
			// A leader keeps its leadership while the journal is down.
			log.Printf("%s: heartbeat %d: %v", w.name, number, err)
		}
		select {
		case <-beats.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// again decides after each leadership whether to compete again. The loss of a
// leadership because no server could be reached is no reason to stop.
func (w *worker) again(err error) bool {
	if err != nil {
		log.Printf("%s leads no more: %v", w.name, err)
	}
	return true
}
