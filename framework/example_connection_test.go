package framework_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/retry"
)

func ExampleClient_Namespace() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()

	shop, err := client.Namespace("/shop")
	if err != nil {
		panic(err)
	}
	created, err := shop.Create(ctx, "/stock/sku-42", []byte("100"), framework.WithParents())
	fmt.Println(created.Path, err)
	fmt.Println(framework.Extend(shop).FullPath(created.Path))
	_, _, err = shop.Get(ctx, "/shop")
	fmt.Println(err)
	// Output:
	// /stock/sku-42 <nil>
	// /shop/stock/sku-42
	// get /shop: zk: node does not exist
}

// The list of servers can come from any source. This example has a map.
func ExampleWithServers() {
	registry := map[string][]string{"zookeeper": {"10.0.0.1", "10.0.0.2:2182"}}
	client, _, done := exampletest.Connect(framework.WithServers(func(context.Context) ([]string, error) {
		return registry["zookeeper"], nil
	}))
	defer done()
	fmt.Println(client.State())
	// Output: Connected
}

// A service would name its headless service:
// framework.ResolveDNS("zk-headless:2181").
func ExampleResolveDNS() {
	servers, err := framework.ResolveDNS("127.0.0.1:2181", "[::1]")(context.Background())
	fmt.Println(servers, err)
	// Output: [127.0.0.1:2181 [::1]:2181] <nil>
}

// InSession keeps a create and a later write in one session, so the write cannot hit a
// node of a lost session.
func ExampleClient_InSession() {
	client, srv, done := exampletest.Connect()
	defer done()
	ctx := context.Background()

	lost := func(err error) bool { return errors.Is(err, framework.ErrSessionLost) }
	tries := 0
	err := retry.Do(ctx, retry.Forever(10*time.Millisecond), lost, func(ctx context.Context) error {
		return client.InSession(ctx, func(ctx context.Context) error {
			tries++
			node, err := client.Create(ctx, "/workers/me-", nil, framework.WithParents(), framework.WithMode(framework.EphemeralSequential))
			if err != nil {
				return err
			}
			if tries == 1 {
				srv.Session(client.SessionID()).Expire()
			}
			_, err = client.Set(ctx, node.Path, []byte("ready"), framework.AnyVersion)
			return err
		})
	})
	fmt.Println(tries, err)
	// Output: 2 <nil>
}
