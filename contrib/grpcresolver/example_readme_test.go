package grpcresolver_test

import (
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/gocurator/curator/contrib/grpcresolver"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

// A program closes the channel before the client.
func Example() {
	if err := callOrders(credentials.NewTLS(nil)); err != nil {
		panic(err)
	}
}

func callOrders(creds credentials.TransportCredentials) error {
	if err := grpcresolver.RegisterBalancer("power_of_two", discovery.PowerOfTwo()); err != nil {
		return err
	}
	client, err := framework.New(os.Getenv("ZOOKEEPER"))
	if err != nil {
		return err
	}
	defer client.Close()
	conn, err := grpc.NewClient("zookeeper:///services/orders",
		grpc.WithResolvers(grpcresolver.NewBuilder(client)),
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"round_robin": {}}]}`),
		grpc.WithTransportCredentials(creds))
	if err != nil {
		return err
	}
	return conn.Close()
}
