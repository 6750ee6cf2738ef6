package atomic_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/atomic"
)

// Processes count visits. Each visit counts once, even if a reply is lost.
func Example() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()

	visits := atomic.NewLong(client, "/shop/visits", atomic.WithReceipts("/shop/receipts"))
	for range 3 {
		if _, err := visits.Add(ctx, 1); err != nil {
			panic(err)
		}
	}
	now, err := visits.Load(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(now)
	// Output: 3
}

// Update refuses to sell more than the stock.
func ExampleNumber_Update() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()

	stock := atomic.NewInt(client, "/stock/sku-42")
	if err := stock.Store(ctx, 1); err != nil {
		panic(err)
	}
	soldOut := errors.New("sold out")
	for range 2 {
		left, err := stock.Update(ctx, func(old int32) (int32, error) {
			if old == 0 {
				return 0, soldOut
			}
			return old - 1, nil
		})
		fmt.Println(left, err)
	}
	// Output:
	// 0 <nil>
	// 0 sold out
}

// Any number of processes get unique, increasing ids.
func ExampleSequence() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()

	orders := atomic.NewSequence(client, "/ids/orders")
	first, err := orders.Next(ctx)
	if err != nil {
		panic(err)
	}
	second, err := orders.Next(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(first < second)
	// Output: true
}
