package main

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// orders is a service that accepts orders and reserves units for them.
type orders struct{ *service }

func (o orders) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /orders", o.endpoint("POST /orders", o.order))
	return mux
}

// order accepts an order. It does the work that needs no lock before it asks
// for the lock.
func (o orders) order(ctx context.Context) error {
	if err := o.span(ctx, "check payment", o.checkPayment); err != nil {
		return err
	}
	// Ctx ends with the lock and with the request.
	return articleLock(o.client).Do(ctx, func(ctx context.Context) error {
		return o.span(ctx, "reserve", o.reserve)
	})
}

func (o orders) checkPayment(ctx context.Context) error { return pause(ctx, 80*time.Millisecond) }

// reserve takes one unit. The lock protects it between the read and the write.
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
	// Tells the warehouse.
	if err := pause(ctx, 150*time.Millisecond); err != nil {
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
