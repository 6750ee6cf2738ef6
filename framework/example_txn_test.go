package framework_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/testing/zktest"
)

// A sale takes one piece of the stock and writes the order, or does neither.
func ExampleClient_Transaction() {
	srv, err := zktest.Run()
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	client, err := framework.New(srv.Addr()+"/shop", framework.WithDialer(srv.Dialer()))
	if err != nil {
		panic(err)
	}
	defer client.Close()
	ctx := context.Background()
	_, err = client.Transaction(ctx, framework.CreateOp("/stock", []byte("1")), framework.CreateOp("/orders", nil))
	fmt.Println(err)

	order := framework.CreateOp("/orders/o-", []byte("sku-42"), framework.WithMode(framework.PersistentSequential))
	results, err := client.Transaction(ctx, framework.SetOp("/stock", []byte("0"), 0), order)
	fmt.Println(results[1].Path, err)

	_, err = client.Transaction(ctx, framework.SetOp("/stock", []byte("0"), 0), order)
	var failed *framework.TxnError
	if errors.As(err, &failed) {
		fmt.Println(failed.Op, failed.Path, failed.Err)
	}
	// Output:
	// <nil>
	// /orders/o-0000000000 <nil>
	// set /stock zk: version conflict
}

// A payment in one namespace and its entry in another are written together, or not at
// all.
func ExampleTxnOp_In() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	shop, err := client.Namespace("/shop")
	fmt.Println(err)
	ledger, err := client.Namespace("/ledger")
	fmt.Println(err)

	results, err := shop.Transaction(ctx,
		framework.CreateOp("/payment", []byte("42")),
		framework.CreateOp("/entry", []byte("42")).In(ledger),
	)
	fmt.Println(results[0].Path, results[1].Path, err)
	data, _, err := client.Get(ctx, "/ledger/entry")
	fmt.Println(string(data), err)
	// Output:
	// <nil>
	// <nil>
	// /payment /entry <nil>
	// 42 <nil>
}

// A transaction creates or overwrites a job's state, and adds a line to its log.
func ExampleCreateOp_overwrite() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	for _, state := range []string{"running", "done"} {
		results, err := client.Transaction(ctx,
			framework.CreateOp("/job", []byte(state), framework.WithOverwrite(framework.AnyVersion)),
			framework.CreateOp("/log/entry-", nil, framework.WithMode(framework.PersistentSequential), framework.WithParents()),
		)
		fmt.Println(results[0].Op, results[0].Path, results[1].Path, err)
	}
	// Output:
	// create /job /log/entry-0000000000 <nil>
	// set /job /log/entry-0000000001 <nil>
}
