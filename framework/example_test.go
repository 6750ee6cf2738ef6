package framework_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

func Example() {
	srv, err := zktest.Run() // a service would name its ensemble: framework.New("zk1:2181,zk2:2181")
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	client, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
	if err != nil {
		panic(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	_, err = client.Create(ctx, "/stock/sku-42", []byte("100"), framework.WithParents())
	fmt.Println(err)

	data, stat, err := client.Get(ctx, "/stock/sku-42")
	fmt.Println(string(data), stat.Version, err)

	_, err = client.Set(ctx, "/stock/sku-42", []byte("99"), stat.Version)
	fmt.Println(err)
	_, err = client.Set(ctx, "/stock/sku-42", []byte("98"), stat.Version) // as if another client was first
	fmt.Println(errors.Is(err, zk.ErrBadVersion), err)
	// Output:
	// <nil>
	// 100 0 <nil>
	// <nil>
	// true set /stock/sku-42: zk: version conflict
}

func ExampleClient_GetW() {
	srv, err := zktest.Run()
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	client, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
	if err != nil {
		panic(err)
	}
	defer client.Close()
	ctx := context.Background()
	if err := srv.Create("/config", []byte("v1")); err != nil {
		panic(err)
	}

	data, _, watch, err := client.GetW(ctx, "/config")
	if err != nil {
		panic(err)
	}
	fmt.Println(string(data))
	srv.Set("/config", []byte("v2"))
	event, err := watch.Wait(ctx)
	fmt.Println(event.Type, event.Path, err)
	// Output:
	// v1
	// EventNodeDataChanged /config <nil>
}
