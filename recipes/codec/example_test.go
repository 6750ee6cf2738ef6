package codec_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/codec"
)

// The value of a node is a struct, as JSON.
func Example() {
	client, srv, done := exampletest.Connect()
	defer done()
	ctx := context.Background()

	type stock struct {
		Article string
		Units   int
	}
	shelf := atomic.NewValue(client, "/stock/sku-42", codec.JSON[stock]())
	if err := shelf.Store(ctx, stock{"sneaker", 100}); err != nil {
		panic(err)
	}
	now, err := shelf.Update(ctx, func(old stock) (stock, error) {
		old.Units -= 2
		return old, nil
	})
	fmt.Println(now.Units, err)
	node, _ := srv.Node("/stock/sku-42")
	fmt.Println(string(node.Data))
	// Output:
	// 98 <nil>
	// {"Article":"sneaker","Units":98}
}

// Your own codec consists of two functions. This codec writes text that people can read
// and edit in the node.
func ExampleCodec() {
	client, srv, done := exampletest.Connect()
	defer done()
	ctx := context.Background()

	text := codec.Codec[time.Duration]{
		Encode: func(d time.Duration) ([]byte, error) { return []byte(d.String()), nil },
		Decode: func(data []byte) (time.Duration, error) { return time.ParseDuration(string(data)) },
	}
	timeout := atomic.NewValue(client, "/timeout", text)
	if err := timeout.Store(ctx, 90*time.Second); err != nil {
		panic(err)
	}
	node, _ := srv.Node("/timeout")
	fmt.Printf("%s\n", node.Data)

	srv.Set("/timeout", []byte("ninety")) // somebody else
	_, err := timeout.Load(ctx)
	var undecoded *codec.DecodeError
	fmt.Println(errors.As(err, &undecoded), err)
	// Output:
	// 1m30s
	// true load /timeout: decode /timeout: time: invalid duration "ninety"
}

// A codec can refuse values. A refused value is never written, and a reader gets an
// error for a refused value of another client.
func ExampleCodec_validate() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()

	positive := func(n int) error {
		if n < 1 {
			return fmt.Errorf("%d: must be positive", n)
		}
		return nil
	}
	plain := codec.JSON[int]()
	workers := atomic.NewValue(client, "/workers", codec.Codec[int]{
		Encode: func(n int) ([]byte, error) {
			data, err := plain.Encode(n)
			return data, cmp.Or(positive(n), err)
		},
		Decode: func(data []byte) (int, error) {
			n, err := plain.Decode(data)
			return n, cmp.Or(err, positive(n))
		},
	})
	fmt.Println(workers.Store(ctx, 0))
	fmt.Println(workers.Store(ctx, 8))
	fmt.Println(workers.Load(ctx))
	// Output:
	// 0: must be positive
	// <nil>
	// 8 <nil>
}
