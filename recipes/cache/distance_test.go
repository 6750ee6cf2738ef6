package cache_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"
)

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// distant returns a dialer of a server that is so far away that a request takes
// roundTrip. Each byte, including the bytes of events, takes half of roundTrip. The
// test ends after its connections have ended; the caller closes them.
func distant(t *testing.T, dial dialer, roundTrip time.Duration) dialer {
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		server, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		client, far := net.Pipe()
		carry(&all, server, far, roundTrip/2)
		carry(&all, far, server, roundTrip/2)
		return client, nil
	}
}

// carry copies what it reads after a time, until one of the connections is
// closed, and closes the other one then.
func carry(all *sync.WaitGroup, from, to net.Conn, after time.Duration) {
	type bytes struct {
		data []byte
		due  time.Time
	}
	const many = 1 << 12
	line := make(chan bytes, many)
	all.Go(func() {
		defer close(line)
		for {
			data := make([]byte, 1<<12)
			n, err := from.Read(data)
			if err != nil {
				return
			}
			line <- bytes{data[:n], time.Now().Add(after)}
		}
	})
	all.Go(func() {
		defer from.Close()
		defer to.Close()
		for b := range line {
			time.Sleep(time.Until(b.due))
			if _, err := to.Write(b.data); err != nil {
				return
			}
		}
	})
}
