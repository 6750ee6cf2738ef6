package framework_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
)

// Only clients with the password can use the nodes that this client creates.
func ExampleWithACLProvider() {
	client, srv, done := exampletest.Connect(
		framework.WithAuth("digest", []byte("shop:secret")),
		framework.WithACLProvider(func(string) []zk.ACL { return zk.DigestACL(zk.PermAll, "shop", "secret") }),
	)
	defer done()
	ctx := context.Background()
	if _, err := client.Create(ctx, "/stock/sku-42", []byte("100"), framework.WithParents()); err != nil {
		panic(err)
	}

	other, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
	if err != nil {
		panic(err)
	}
	defer other.Close()
	_, _, err = other.Get(ctx, "/stock/sku-42")
	fmt.Println(errors.Is(err, zk.ErrNoAuth))

	err = other.AddAuth(ctx, "digest", []byte("shop:secret"))
	fmt.Println(err)
	data, _, err := other.Get(ctx, "/stock/sku-42")
	fmt.Println(string(data), err)
	// Output:
	// true
	// <nil>
	// 100 <nil>
}
