package main

import (
	"context"
	"net/http"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// stock is a service that counts the units of an article on the shelf.
type stock struct {
	*service
	counting time.Duration // how long it counts
}

func (s stock) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("PUT /stock", s.endpoint("PUT /stock", s.takeStock))
	return mux
}

// takeStock counts and writes the result under the lock of the article. No unit
// may leave the shelf meanwhile.
func (s stock) takeStock(ctx context.Context) error {
	// Ctx ends with the lock and with the request.
	return articleLock(s.client).Do(ctx, func(ctx context.Context) error {
		return s.span(ctx, "count", func(ctx context.Context) error {
			if err := pause(ctx, s.counting); err != nil {
				return err
			}
			_, err := s.client.Set(ctx, articlePath, []byte("10"), framework.AnyVersion)
			return err
		})
	})
}

// The only article of the shop.
const (
	articlePath     = "/stock/sku-42"
	articleLockPath = "/locks/sku-42"
)

// articleLock returns the lock of the article. Spans and metrics have its name,
// which is the same for all articles, because there may be many. Spans have the
// path as well.
func articleLock(client *framework.Client) *locks.InterProcessMutex {
	return locks.NewInterProcessMutex(client, articleLockPath, locks.WithName("sku"))
}
