package main

import (
	"context"
	"net/http"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
)

// stock is a service that knows how much there is of an article, because it counts what is on the shelf.
type stock struct {
	*service
	counting time.Duration // takes this long
}

func (s stock) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("PUT /stock", s.endpoint("PUT /stock", s.takeStock))
	return mux
}

// takeStock counts and writes the result, under the lock of the article: nobody may take from the shelf meanwhile.
func (s stock) takeStock(ctx context.Context) error {
	return articleLock(s.client).Do(ctx, func(ctx context.Context) error { // ends with the lock, and with the request
		return s.span(ctx, "count", func(ctx context.Context) error {
			if err := pause(ctx, s.counting); err != nil {
				return err
			}
			_, err := s.client.Set(ctx, articlePath, []byte("10"), framework.AnyVersion)
			return err
		})
	})
}

// The one article of the shop.
const (
	articlePath     = "/stock/sku-42"
	articleLockPath = "/locks/sku-42"
)

// articleLock returns the lock of the article. Its name is in spans and metrics: the same for the locks of all
// articles, because there are many. Spans have the path as well.
func articleLock(client *framework.Client) *recipes.InterProcessMutex {
	return recipes.NewInterProcessMutex(client, articleLockPath, recipes.WithName("sku"))
}
