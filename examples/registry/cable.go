package main

import (
	"context"
	"errors"
	"net"
	"sync"
)

// cable is a process's connection to ZooKeeper, which can be cut.
type cable struct {
	mu    sync.Mutex
	isCut bool
	conns []net.Conn
}

var errCut = errors.New("the cable is cut")

func (c *cable) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isCut {
		conn.Close()
		return nil, errCut
	}
	c.conns = append(c.conns, conn)
	return conn, nil
}

// plug cuts the cable, or mends it.
func (c *cable) plug(in bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isCut = !in
	if c.isCut {
		for _, conn := range c.conns {
			conn.Close()
		}
		c.conns = nil
	}
	return nil
}
