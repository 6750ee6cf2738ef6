package main

import (
	"context"
	"errors"
	"log"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
)

// worker is one of several that are ready to do the same work. The one that leads does it.
type worker struct {
	name     string
	client   *framework.Client
	selector *recipes.LeaderSelector
	began    atomic.Pointer[time.Time] // when its leadership began; nil without one

	journal journalClient
	every   time.Duration // between heartbeats
}

func newWorker(client *framework.Client, path, name string) *worker {
	w := &worker{name: name, client: client}
	w.selector = recipes.NewLeaderSelector(client, path, recipes.WithID(name), recipes.WithRequeue(w.again))
	return w
}

// run stands for leader until ctx ends, as it does on a SIGTERM. A leader stops working then, and hands over: the next one
// does not have to wait for the session to time out.
func (w *worker) run(ctx context.Context) error {
	err := w.selector.Run(ctx, w.lead)
	if ctx.Err() != nil {
		return nil // to stop was what we were asked for
	}
	return err
}

// lead is the work of the leader. Its context ends when the leadership does, and everything is done under it. The journal
// is given the fencing token: it refuses what comes from a leader that was stopped for so long that it does not know of
// its successor.
func (w *worker) lead(ctx context.Context) error {
	lease, _ := recipes.LeaseFromContext(ctx)
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
		case err != nil: // a journal that is away is no reason to step down
			log.Printf("%s: heartbeat %d: %v", w.name, number, err)
		}
		select {
		case <-beats.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// again is asked after each leadership whether to stand for the next one. That a leadership was lost, because no server
// could be reached, is nothing to give up for.
func (w *worker) again(err error) bool {
	if err != nil {
		log.Printf("%s leads no more: %v", w.name, err)
	}
	return true
}
