package main

import (
	"context"
	"errors"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

// redis provides the locks of rueidislock.
type redis struct {
	addr     string
	validity time.Duration // how long a key lives if it is not extended
}

func (r redis) connect(context.Context) (client, error) {
	l, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: []string{r.addr}},
		KeyMajority:    1, // there is one server
		KeyValidity:    r.validity,
		TryNextAfter:   r.validity, // the limit of a try; there is no next key
		NoLoopTracking: true,       // its documentation recommends that for this version of Redis
	})
	if err != nil {
		return nil, err
	}
	return redisClient{l}, nil
}

type redisClient struct{ locker rueidislock.Locker }

func (c redisClient) close() { c.locker.Close() }

func (c redisClient) mutex(path string) mutex { return &redisMutex{locker: c.locker, name: path} }

type redisMutex struct {
	locker rueidislock.Locker
	name   string
	cancel context.CancelFunc // cancel releases the lock
}

func (m *redisMutex) acquire(ctx context.Context) (err error) {
	_, m.cancel, err = m.locker.WithContext(ctx, m.name)
	return err
}

func (m *redisMutex) release(context.Context) error {
	m.cancel() // deletes the key, and waits for the deletion
	return nil
}

func (m *redisMutex) try(ctx context.Context) (bool, error) {
	_, cancel, err := m.locker.TryWithContext(ctx, m.name)
	if errors.Is(err, rueidislock.ErrNotLocked) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	m.cancel = cancel
	return true, nil
}
