package main

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gocurator/curator/contrib/grpcresolver"
	"github.com/gocurator/curator/framework"
)

// config makes gRPC call all instances in turn. gRPC repeats a call without an answer
// at the next instance, because a greeting is safe to repeat.
const config = `{
	"loadBalancingConfig": [{"round_robin": {}}],
	"methodConfig": [{"name": [{"service": "example.Greeter"}], "retryPolicy": {
		"maxAttempts": 4, "initialBackoff": "0.01s", "maxBackoff": "0.1s", "backoffMultiplier": 2,
		"retryableStatusCodes": ["UNAVAILABLE"]
	}}]
}`

// web is the service that calls the greeters.
type web struct{ conn *grpc.ClientConn }

func newWeb(client *framework.Client) (*web, error) {
	conn, err := grpc.NewClient("zookeeper:///services/greeter?codec=spring",
		grpc.WithResolvers(grpcresolver.NewBuilder(client)),
		grpc.WithDefaultServiceConfig(config),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	return &web{conn}, err
}

func (w *web) close() { w.conn.Close() }

// call makes one call without waiting, and returns its error.
func (w *web) call(ctx context.Context) error {
	return w.conn.Invoke(ctx, "/example.Greeter/Greet", &emptypb.Empty{}, &wrapperspb.StringValue{})
}

// greet makes a call and returns the name of the greeter that has answered. If there is
// no greeter, greet waits.
func (w *web) greet(ctx context.Context) (string, error) {
	var name wrapperspb.StringValue
	err := w.conn.Invoke(ctx, "/example.Greeter/Greet", &emptypb.Empty{}, &name, grpc.WaitForReady(true))
	return name.Value, err
}
