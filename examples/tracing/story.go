package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// runStory runs the story: stock is counted, and an order arrives meanwhile.
// Afterwards the collector has all spans of both services. Only the container
// node /tracing is left on the servers, which remove it when it is empty.
func runStory(ctx context.Context, cfg config, spans *collector) (err error) {
	servers, root := strings.TrimSuffix(cfg.servers, "/"), path.Join("/tracing", rand.Text())
	if servers == "" {
		srv, err := zktest.Run(zktest.WithTCP("127.0.0.1:0"))
		if err != nil {
			return err
		}
		defer srv.Close()
		servers, root = srv.Addr(), "/shop"
	}
	client, err := framework.New(servers)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.WaitConnected(ctx); err != nil {
		return err // there is nothing to clean up, and no server to ask
	}
	defer func() { err = errors.Join(err, cleanUp(ctx, client, root)) }()
	shop, err := client.Namespace(root)
	if err != nil {
		return err
	}
	if err := open(ctx, shop); err != nil {
		return err
	}
	exports, stop, err := spans.serve()
	if err != nil {
		return err
	}
	defer stop()
	return runServices(ctx, cfg, servers+root, exports, func(stock, orders *process) error {
		return sendRequests(ctx, shop, stock, orders, cfg.arrival())
	})
}

// open creates the nodes of the article.
func open(ctx context.Context, shop *framework.Client) error {
	for _, p := range []string{articlePath, articleLockPath} {
		if _, err := shop.Create(ctx, p, nil, framework.WithParents()); err != nil {
			return err
		}
	}
	return nil
}

// cleanUp removes everything from the servers, even if ctx has ended.
func cleanUp(ctx context.Context, client *framework.Client, root string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := client.Delete(ctx, root, framework.AnyVersion, framework.WithChildren(), framework.WithMissingOK())
	if err != nil {
		return fmt.Errorf("%s is left on the servers: %w", root, err)
	}
	return nil
}

// runServices starts both services, calls f and ends the services.
func runServices(
	ctx context.Context, cfg config, servers, exports string, f func(stock, orders *process) error,
) (err error) {
	stock, err := launch(ctx, cfg, "stock", servers, exports)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stock.end()) }()
	orders, err := launch(ctx, cfg, "orders", servers, exports)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, orders.end()) }()
	return f(stock, orders)
}

// sendRequests sends the order some time after stock has begun to count. It
// returns when both requests are answered.
func sendRequests(
	ctx context.Context, shop *framework.Client, stock, orders *process, after time.Duration,
) error {
	taken := make(chan error, 1)
	go func() { taken <- request(ctx, http.MethodPut, stock.url+"/stock") }()
	err := waitForHolder(ctx, shop, taken)
	if err == nil {
		err = pause(ctx, after)
	}
	if err == nil {
		err = request(ctx, http.MethodPost, orders.url+"/orders")
	}
	return errors.Join(err, <-taken)
}

// waitForHolder waits until the lock has a node, or until the request that
// should create it has ended.
func waitForHolder(ctx context.Context, shop *framework.Client, over chan error) error {
	for {
		nodes, _, watch, err := shop.ChildrenW(ctx, articleLockPath)
		if err != nil {
			return err
		}
		if len(nodes) > 0 {
			watch.Stop()
			return nil
		}
		select {
		case <-watch.Done():
		case err := <-over:
			over <- err
			if err != nil {
				return errors.New("stock has not held the lock")
			}
			return nil // stock held the lock too briefly to be seen
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func request(ctx context.Context, method, url string) error {
	r, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return err
	}
	r.Close = true // one request, one connection
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s: %s", method, url, answer.Status, body)
	}
	return nil
}
