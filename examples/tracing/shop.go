package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// The only article of the shop.
const (
	articlePath     = "/stock/sku-42"
	articleLockPath = "/locks/sku-42"
)

// openShop creates the nodes of the article.
func openShop(ctx context.Context, client *framework.Client) error {
	for _, p := range []string{articlePath, articleLockPath} {
		if _, err := client.Create(ctx, p, nil, framework.WithParents()); err != nil {
			return err
		}
	}
	return nil
}

// articleLock returns the lock of the article. Spans and metrics have its name,
// which is the same for all articles, because there may be many. Spans have the
// path as well.
func articleLock(client *framework.Client) *locks.InterProcessMutex {
	return locks.NewInterProcessMutex(client, articleLockPath, locks.WithName("sku"))
}

// takeStock is a request to the service "stock". It counts and writes the result
// under the lock of the article: no unit may leave the shelf meanwhile. It calls
// begun when it holds the lock.
func (s *service) takeStock(ctx context.Context, begun func()) error {
	return s.span(ctx, "PUT /stock", func(ctx context.Context) error {
		// Ctx ends with the lock and with the request.
		return articleLock(s.client).Do(ctx, func(ctx context.Context) error {
			begun()
			return s.span(ctx, "count", func(ctx context.Context) error {
				if err := pause(ctx, counting); err != nil {
					return err
				}
				_, err := s.client.Set(ctx, articlePath, []byte("10"), framework.AnyVersion)
				return err
			})
		})
	}, trace.WithSpanKind(trace.SpanKindServer))
}

// order is a request to the service "orders". It does the work that needs no lock
// before it asks for the lock.
func (s *service) order(ctx context.Context) error {
	return s.span(ctx, "POST /orders", func(ctx context.Context) error {
		checkPayment := func(ctx context.Context) error { return pause(ctx, 80*time.Millisecond) }
		if err := s.span(ctx, "check payment", checkPayment); err != nil {
			return err
		}
		return articleLock(s.client).Do(ctx, func(ctx context.Context) error {
			return s.span(ctx, "reserve", s.reserve)
		})
	}, trace.WithSpanKind(trace.SpanKindServer))
}

// reserve takes one unit. The lock protects it between the read and the write.
func (s *service) reserve(ctx context.Context) error {
	data, stat, err := s.client.Get(ctx, articlePath)
	if err != nil {
		return err
	}
	units, err := strconv.Atoi(string(data))
	if err != nil {
		return err
	}
	if units == 0 {
		return errors.New("sold out")
	}
	// Tells the warehouse.
	if err := pause(ctx, 150*time.Millisecond); err != nil {
		return err
	}
	_, err = s.client.Set(ctx, articlePath, []byte(strconv.Itoa(units-1)), stat.Version)
	return err
}

// pause stands for work.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
