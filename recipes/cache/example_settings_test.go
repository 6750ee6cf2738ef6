package cache_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/cache"
)

type settings struct{ Workers int }

// followSettings calls use with the settings as they are, and each time that
// they change, until ctx ends. An error is why they cannot be decoded: the
// service goes on with the settings that it has.
func followSettings(ctx context.Context, client *framework.Client, use func(settings, error)) error {
	nodes, err := cache.New(client, "/config/orders", cache.WithDepth(0))
	if err != nil {
		return err
	}
	defer nodes.Close()
	for change := range nodes.Changes(ctx) {
		if change.Type == cache.Created || change.Type == cache.Changed {
			var s settings
			err := json.Unmarshal(change.New.Data, &s)
			use(s, err)
		}
	}
	return cmp.Or(ctx.Err(), nodes.Err())
}

// A service follows its settings while an operator edits them.
func Example_settings() {
	client, srv, done := exampletest.Connect()
	defer done()
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()

	edit := func(text string) {
		if err := srv.Set("/config/orders", []byte(text)); err != nil {
			panic(err)
		}
	}
	_, err := client.Create(ctx, "/config/orders", []byte(`{"Workers": 4}`), framework.WithParents())
	if err != nil {
		panic(err)
	}
	err = followSettings(ctx, client, func(s settings, err error) {
		switch {
		case err != nil:
			fmt.Println("bad settings:", err)
			edit(`{"Workers": 8}`)
		case s.Workers == 4:
			fmt.Println("workers:", s.Workers)
			edit(`{"Workers": 8`)
		default:
			fmt.Println("workers:", s.Workers)
			stop()
		}
	})
	fmt.Println(err)
	// Output:
	// workers: 4
	// bad settings: unexpected end of JSON input
	// workers: 8
	// context canceled
}
