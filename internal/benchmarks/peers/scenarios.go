package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// scenario runs one of these scenarios, and returns how long it took.
//
//   - one: one client acquires and releases.
//   - own: 64 goroutines of one client do the same, each with its own mutex.
//   - sessions: eight clients do the same with one mutex.
//   - hand-over: two clients pass a mutex on. The time is from one client's release to
//     the other client's grant.
//   - try: a client tries to acquire a mutex that another client holds.
func (p *peer) scenario(ctx context.Context, name, path string, times int) (time.Duration, error) {
	clients, err := p.of(ctx, 8)
	if err != nil {
		return 0, err
	}
	switch name {
	case "one":
		return together(1, func(int) error { return cycles(ctx, clients[0].mutex(path), times) })
	case "own":
		return together(64, func(i int) error {
			return cycles(ctx, clients[0].mutex(fmt.Sprint(path, "-", i)), times)
		})
	case "sessions":
		return together(8, func(i int) error { return cycles(ctx, clients[i].mutex(path), times) })
	case "hand-over":
		return handOvers(ctx, [2]mutex{clients[0].mutex(path), clients[1].mutex(path)}, times)
	case "try":
		return tries(ctx, clients[0].mutex(path), clients[1].mutex(path), times)
	}
	return 0, fmt.Errorf("no such scenario: %s", name)
}

func together(n int, f func(i int) error) (time.Duration, error) {
	errs := make([]error, n)
	start := time.Now()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = f(i) })
	}
	all.Wait()
	return time.Since(start), errors.Join(errs...)
}

func cycles(ctx context.Context, m mutex, times int) error {
	for range times {
		if err := m.acquire(ctx); err != nil {
			return err
		}
		if err := m.release(ctx); err != nil {
			return err
		}
	}
	return nil
}

// queues is how long a client queues before the other client releases.
const queues = 150 * time.Millisecond

// granted is the end of an acquire.
type granted struct {
	at  time.Time
	err error
}

func handOvers(ctx context.Context, two [2]mutex, times int) (sum time.Duration, err error) {
	if err := two[0].acquire(ctx); err != nil {
		return 0, err
	}
	for i := range times {
		next := make(chan granted, 1)
		go func() {
			err := two[(i+1)%2].acquire(ctx)
			next <- granted{time.Now(), err}
		}()
		time.Sleep(queues)
		start := time.Now()
		if err := two[i%2].release(ctx); err != nil {
			return 0, err
		}
		got := <-next
		if got.err != nil {
			return 0, got.err
		}
		sum += got.at.Sub(start)
	}
	return sum, two[times%2].release(ctx)
}

func tries(ctx context.Context, holder, other mutex, times int) (time.Duration, error) {
	if err := holder.acquire(ctx); err != nil {
		return 0, err
	}
	start := time.Now()
	for range times {
		switch won, err := other.try(ctx); {
		case err != nil:
			return 0, err
		case won:
			return 0, errors.New("two clients hold the mutex")
		}
	}
	return time.Since(start), holder.release(ctx)
}
