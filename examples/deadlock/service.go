package main

import (
	"context"
	"errors"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// The locks, and what they guard: the stock of a shop, and its accounts.
const (
	stock    = "/deadlock/stock"
	accounts = "/deadlock/accounts"
)

// service is a process that needs both locks for its work.
type service struct {
	name   string
	client *framework.Client
	order  []string // the paths of the locks, the first to take first
}

// lockOneByOne takes the first lock, reports that, and then takes the second
// one. This is the mistake: another service may do it in the other order.
func (s *service) lockOneByOne(ctx context.Context, holdsFirst func()) (err error) {
	first, err := locks.NewInterProcessMutex(s.client, s.order[0]).Acquire(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, first.Release(context.WithoutCancel(ctx))) }()
	holdsFirst()
	// The wait ends with the first lock, too: without that lock there is no reason to wait.
	ctx, cancel := first.WithContext(ctx)
	defer cancel()
	second, err := locks.NewInterProcessMutex(s.client, s.order[1]).Acquire(ctx)
	if err != nil {
		return err
	}
	return second.Release(context.WithoutCancel(ctx))
}

// lockInOrder takes both locks in the order of their paths, whatever order the
// service has them in. This is the cure.
func (s *service) lockInOrder(ctx context.Context) error {
	both := locks.NewInterProcessMultiLock(locks.SortedMutexes(s.client, s.order)...)
	lease, err := both.Acquire(ctx)
	if err != nil {
		return err
	}
	return lease.Release(context.WithoutCancel(ctx))
}
