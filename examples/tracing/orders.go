package main

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// orders is a service that takes orders, and reserves for them what is on the shelf.
type orders struct{ *service }

func (o orders) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /orders", o.endpoint("POST /orders", o.order))
	return mux
}

// order takes an order. What needs no lock is done before it is asked for.
func (o orders) order(ctx context.Context) error {
	if err := o.span(ctx, "check payment", o.checkPayment); err != nil {
		return err
	}
	return articleLock(o.client).Do(ctx, func(ctx context.Context) error { // ends with the lock, and with the request
		return o.span(ctx, "reserve", o.reserve)
	})
}

func (o orders) checkPayment(ctx context.Context) error { return pause(ctx, 80*time.Millisecond) }

// reserve takes one unit. It reads and writes, which is what the lock is for.
func (o orders) reserve(ctx context.Context) error {
	data, stat, err := o.client.Get(ctx, articlePath)
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
	if err := pause(ctx, 150*time.Millisecond); err != nil { // the warehouse is told
		return err
	}
	_, err = o.client.Set(ctx, articlePath, []byte(strconv.Itoa(units-1)), stat.Version)
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
