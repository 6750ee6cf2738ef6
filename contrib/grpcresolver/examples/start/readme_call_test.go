package start_test

import (
	"context"
	"log"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/gocurator/curator/contrib/grpcresolver"
	"github.com/gocurator/curator/framework"
)

func run(ctx context.Context, client *framework.Client) error {
	conn, err := grpc.NewClient("zookeeper:///services/orders",
		grpc.WithResolvers(grpcresolver.NewBuilder(client)),
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"round_robin": {}}]}`),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	answer, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{})
	if err != nil {
		return err // says why no instance was found
	}
	log.Print("orders is ", answer.Status)
	return nil
}
