package periodic

import (
	"context"

	"github.com/hibiken/asynq"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
)

// Lead enqueues the periodic tasks of opts whenever latch leads, until ctx ends
// or the candidacy is over. It starts a new asynq.PeriodicTaskManager for each
// leadership, and shuts it down at the end of that. It has leader.Latch.Lead
// call it, and returns what that returns.
//
// A manager that cannot start ends Lead with its error: the provider has
// failed, or has returned a config that is not valid. The latch stands behind
// the other candidates then. The caller may call Lead again after a while.
//
// The provider's GetConfigs must be safe for concurrent use. Its answer is
// ignored when the leadership is over, and another manager may ask again by
// then.
//
// Shutdown of a manager waits for Redis. A Redis that does not answer holds up
// Lead, and the hand-over to the next candidate, for as long as its client
// waits and tries. After a loss of the session, it does not hold up the next
// one. If opts has a RedisUniversalClient, it is shared by all leadership
// terms, and is not closed: asynq logs an error about that at each end.
//
// A nil latch, and options without a provider or without Redis, are errors that
// match zk.ErrBadArguments.
func Lead(ctx context.Context, latch *leader.Latch, opts asynq.PeriodicTaskManagerOpts) error {
	switch {
	case latch == nil:
		return mustNotBeNil("latch")
	case opts.PeriodicTaskConfigProvider == nil:
		return mustNotBeNil("PeriodicTaskConfigProvider")
	case opts.RedisConnOpt == nil && opts.RedisUniversalClient == nil:
		return mustNotBeNil("RedisConnOpt")
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
		configs, err := p.user.GetConfigs()
		answers <- answer{configs, err}
	}()
	select {
	case a := <-answers:
		return a.configs, a.err
	case <-p.leads.Done():
		return nil, context.Cause(p.leads)
	}
}
