package asynq

import (
	"context"
	"errors"

	"github.com/hibiken/asynq"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
)

// errNoReturn is the answer of a GetConfigs that does not return.
var errNoReturn = errors.New("GetConfigs has ended its goroutine")

// Lead enqueues the periodic tasks of opts whenever latch leads, until ctx ends
// or the candidacy is over. It starts a new asynq.PeriodicTaskManager for each
// leadership, and shuts it down at the end of that. It has leader.Latch.Lead
// call it, and returns what that returns.
//
// A manager that cannot start ends Lead with its error: the provider has failed
// or has ended its goroutine, or has returned a config that is nil, or that has
// no task or no Cronspec. The latch stands behind the other candidates then. The
// caller may call Lead again after a while. A Cronspec that cannot be parsed
// does not end Lead: asynq logs that, and leaves its task out.
//
// The provider's GetConfigs must be safe for concurrent use, and return each
// config once: asynq enqueues one that is there twice at the start two times.
// Its answer is ignored when the leadership is over, and another manager may ask
// again by then. As long as the first call in a leadership does not return,
// nothing is enqueued, so GetConfigs should bound its waits. It is called on a
// goroutine of its own: if it panics, the process ends, and Lead does not
// return.
//
// Shutdown of a manager waits for Redis. A Redis that does not answer holds up
// Lead, and the hand-over to the next candidate, for as long as its client
// waits and tries. After a loss of the session, it does not hold up the next
// one. If opts has a RedisUniversalClient, it is shared by all leadership
// terms, and is not closed: asynq logs an error about that at each end.
//
// A nil latch, a negative SyncInterval, and options without a provider or
// without Redis, are errors that match zk.ErrBadArguments.
func Lead(ctx context.Context, latch *leader.Latch, opts asynq.PeriodicTaskManagerOpts) error {
	switch {
	case latch == nil:
		return mustNotBeNil("latch")
	case opts.PeriodicTaskConfigProvider == nil:
		return mustNotBeNil("PeriodicTaskConfigProvider")
	case opts.RedisConnOpt == nil && opts.RedisUniversalClient == nil:
		return mustNotBeNil("RedisConnOpt")
	case opts.SyncInterval < 0: // the manager would panic
		return &framework.ConfigError{Name: "SyncInterval", Value: opts.SyncInterval.String(), Reason: "must not be negative"}
	}
	return latch.Lead(ctx, func(ctx context.Context) error { return enqueue(ctx, opts) })
}

func mustNotBeNil(name string) error {
	return &framework.ConfigError{Name: name, Value: "nil", Reason: "must not be nil"}
}

// enqueue is the work of one leadership.
func enqueue(ctx context.Context, opts asynq.PeriodicTaskManagerOpts) error {
	opts.PeriodicTaskConfigProvider = provider{ctx, opts.PeriodicTaskConfigProvider}
	manager, err := asynq.NewPeriodicTaskManager(opts)
	if err != nil {
		return err
	}
	if err := manager.Start(); err != nil {
		return err
	}
	<-ctx.Done()
	manager.Shutdown()
	return nil
}

// provider is the user's, until the leadership ends. Shutdown waits for a call
// of GetConfigs before it stops to enqueue, and the user's may wait for a
// database that is cut off, too.
type provider struct {
	leads context.Context
	user  asynq.PeriodicTaskConfigProvider
}

func (p provider) GetConfigs() ([]*asynq.PeriodicTaskConfig, error) {
	type answer struct {
		configs []*asynq.PeriodicTaskConfig
		err     error
	}
	answers := make(chan answer, 1)
	go func() {
		a := answer{err: errNoReturn}
		defer func() { answers <- a }()
		a.configs, a.err = p.user.GetConfigs()
	}()
	select {
	case a := <-answers:
		if p.leads.Err() == nil {
			return a.configs, a.err
		}
	case <-p.leads.Done():
	}
	return nil, context.Cause(p.leads)
}
