//go:build real

package start

import (
	"context"
	"errors"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

func run(ctx context.Context, client *framework.Client) error {
	server, port, err := serve()
	if err != nil {
		return err
	}
	defer server.GracefulStop()
	registration, err := discovery.NewRegistration(client, "/services", discovery.CuratorCodec(),
		discovery.Instance{Service: "orders", Address: "127.0.0.1", Port: port})
	if err != nil {
		return err
	}
	<-ctx.Done()
	ctx = context.WithoutCancel(ctx)
	return errors.Join(registration.Drain(ctx), registration.Shutdown(ctx)) // Drain sends callers to other instances
}

// serve starts a gRPC server, as you would without ZooKeeper.
func serve() (server *grpc.Server, port int, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, 0, err
	}
	server = grpc.NewServer()
	healthpb.RegisterHealthServer(server, health.NewServer()) // and your own service
	go server.Serve(listener)
	return server, listener.Addr().(*net.TCPAddr).Port, nil
}
