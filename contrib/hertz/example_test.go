package hertz_test

import (
	"context"
	"fmt"

	"github.com/cloudwego/hertz/pkg/app/server/registry"
	"github.com/cloudwego/hertz/pkg/common/utils"

	"github.com/gocurator/curator/contrib/hertz"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// hertz makes these calls: server.WithRegistry and sd.Discovery take the Registry
// and the Resolver.
func Example() {
	srv, err := zktest.Run() // a service would name its ensemble: framework.New("zk1:2181,zk2:2181,zk3:2181")
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	client, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
	if err != nil {
		panic(err)
	}
	defer client.Close()

	orders := &registry.Info{ServiceName: "orders", Addr: utils.NewNetAddr("tcp", "10.0.0.7:8888"), Weight: 10}
	reg := hertz.NewRegistry(client)
	if err := reg.Register(orders); err != nil {
		panic(err)
	}
	resolver := hertz.NewResolver(client)
	defer resolver.Close()
	result, err := resolver.Resolve(context.Background(), "orders")
	if err != nil {
		panic(err)
	}
	for _, i := range result.Instances {
		fmt.Println(i.Address(), i.Weight())
	}
	if err := reg.Deregister(orders); err != nil {
		panic(err)
	}
	// Output: 10.0.0.7:8888 10
}
