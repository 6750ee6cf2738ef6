package grpcresolver_test

import (
	"google.golang.org/grpc/balancer"
	"google.golang.org/grpc/resolver"

	"github.com/gocurator/curator/contrib/grpcresolver"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

// A custom balancer reads the registry's entry for an endpoint.
func ExampleInstanceOf() {
	choose := func(s balancer.ClientConnState) (canaries []resolver.Endpoint) {
		for _, e := range s.ResolverState.Endpoints {
			if i := grpcresolver.InstanceOf(e); i != nil && i.Metadata["version"] == "canary" {
				canaries = append(canaries, e)
			}
		}
		return canaries
	}
	_ = choose
}

// Targets name one of two ensembles. The registry has only Spring's format.
func ExampleNewBuilder() {
	build := func(here, prod *framework.Client) *grpcresolver.Builder {
		return grpcresolver.NewBuilder(here, // zookeeper:///services/orders
			grpcresolver.WithClient("prod", prod), // zookeeper://prod/services/orders
			grpcresolver.WithCodec("curator", discovery.SpringCodec()),
			grpcresolver.WithServiceConfig())
	}
	_ = build
}
