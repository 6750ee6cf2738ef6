package recipes_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/recipes/shared"
)

// A worker applies a setting as soon as the setting changes, and works in between.
func Example() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	limit, err := shared.NewCount(client, "/limit", 10)
	if err != nil {
		panic(err)
	}
	defer limit.Close()

	limits, stop := recipes.Latest(ctx, limit.Changes)
	defer stop()
	work := time.NewTicker(time.Hour)
	defer work.Stop()
	for range 2 {
		select {
		case now, open := <-limits:
			if !open { // the value has ended, and stop returns why
				fmt.Println(stop())
				return
			}
			fmt.Println("limit:", now.Value)
			if now.Value == 10 {
				fmt.Println(limit.Set(ctx, 20))
			}
		case <-work.C:
		}
	}
	// Output:
	// limit: 10
	// <nil>
	// limit: 20
}
