package main

import (
	"context"
	"errors"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// etcd provides the mutex of etcd's package concurrency.
type etcd struct {
	addr     string
	validity time.Duration // how long a session lives without a heartbeat
}

func (e etcd) connect(ctx context.Context) (client, error) {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{e.addr}, DialTimeout: 30 * time.Second})
	if err != nil {
		return nil, err
	}
	session, err := concurrency.NewSession(c, concurrency.WithTTL(int(e.validity/time.Second)),
		concurrency.WithContext(ctx))
	if err != nil {
		c.Close()
		return nil, err
	}
	return etcdClient{c, session}, nil
}

type etcdClient struct {
	client  *clientv3.Client
	session *concurrency.Session
}

func (c etcdClient) close() {
	c.session.Close()
	c.client.Close()
}

func (c etcdClient) mutex(path string) mutex {
	return etcdMutex{concurrency.NewMutex(c.session, path)}
}

type etcdMutex struct{ m *concurrency.Mutex }

func (m etcdMutex) acquire(ctx context.Context) error { return m.m.Lock(ctx) }
func (m etcdMutex) release(ctx context.Context) error { return m.m.Unlock(ctx) }

func (m etcdMutex) try(ctx context.Context) (bool, error) {
	err := m.m.TryLock(ctx)
	if errors.Is(err, concurrency.ErrLocked) {
		return false, nil
	}
	return err == nil, err
}
