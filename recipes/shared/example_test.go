package shared_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/recipes/shared"
)

// A process follows a limit that somebody changes while it runs.
func Example() {
	client, srv, done := exampletest.Connect()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	limit, err := shared.NewCount(client, "/config/limit", 10)
	if err != nil {
		panic(err)
	}
	defer limit.Close()
	for now, err := range limit.Changes(ctx) {
		var undecoded *codec.DecodeError
		switch {
		case errors.As(err, &undecoded):
			fmt.Println(err) // the loop goes on
			srv.Set("/config/limit", []byte{0, 0, 0, 20})
			continue
		case err != nil:
			panic(err)
		}
		fmt.Println("limit", now.Value)
		if now.Value == 20 {
			break
		}
		srv.Set("/config/limit", []byte("20")) // somebody else, in the wrong form
	}
	// Output:
	// limit 10
	// decode /config/limit: a count has 4 bytes, and this has 2
	// limit 20
}

// Two goroutines, or two processes, count up a number. No step is lost.
func ExampleValue_TrySet() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	count, err := shared.NewCount(client, "/visitors", 0)
	if err != nil {
		panic(err)
	}
	defer count.Close()

	add := func() error {
		now, err := count.Refresh(ctx)
		for ok := false; err == nil && !ok; {
			now, ok, err = count.TrySet(ctx, now, now.Value+1)
		}
		return err
	}
	other := make(chan error)
	go func() { other <- add() }()
	fmt.Println(add(), <-other)
	now, err := count.Refresh(ctx)
	fmt.Println(now.Value, err)
	// Output:
	// <nil> <nil>
	// 2 <nil>
}

// A setting with a type of the program. The node has JSON.
func ExampleNewValue() {
	client, srv, done := exampletest.Connect(framework.WithServiceName("orders"))
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	type settings struct {
		Workers int
		Paused  bool
	}
	v, err := shared.NewValue(client, "/config/orders", codec.JSON[settings](), settings{Workers: 4})
	if err != nil {
		panic(err)
	}
	defer v.Close()
	if err := v.Set(ctx, settings{Workers: 4, Paused: true}); err != nil {
		panic(err)
	}
	now, err := v.Get()
	fmt.Printf("%+v %v\n", now.Value, err)
	node, _ := srv.Node("/config/orders")
	fmt.Println(string(node.Data))
	// Output:
	// {Workers:4 Paused:true} <nil>
	// {"Workers":4,"Paused":true}
}
