package grpcresolver_test

import (
	"context"
	"errors"
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

// A server registers itself.
func registerOrders(client *framework.Client) error {
	r, err := discovery.NewRegistration(client, "/services", discovery.CuratorCodec(), discovery.Instance{
		Service: "orders", ID: "orders-1", Address: "10.0.0.7", Port: 50051,
	})
	if err != nil {
		return err
	}
	return errors.Join(r.Drain(context.Background()), r.Shutdown(context.Background()))
}
