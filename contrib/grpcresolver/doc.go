// Package grpcresolver lets gRPC channels find the instances of a service that
// are registered in ZooKeeper, by package discovery, Java Curator, Spring
// Cloud, Dubbo and others.
//
//	conn, err := grpc.NewClient("zookeeper:///services/orders",
//		grpc.WithResolvers(grpcresolver.NewBuilder(client)),
//		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"round_robin": {}}]}`),
//		grpc.WithTransportCredentials(creds))
//
// The client is a framework.Client. Without the option WithResolvers, gRPC does
// not know the scheme: importing this package registers nothing.
//
// # Targets
//
//	zookeeper://CLIENT/BASE/SERVICE?codec=FORMAT&port=PORT&zone=ZONE
//
// These are the parts:
//
//   - CLIENT is the name of a client of [WithClient], and mostly empty.
//   - BASE is the path below which the services are, and SERVICE the name of
//     one, which is the last element. A slash in a name may be written as %2F.
//   - FORMAT is curator, which is the default and reads what Spring and Dubbo write,
//     too, spring, dubbo, serverset, or a name of [WithCodec].
//   - PORT is ssl for discovery.Instance.TLSPort, or the name of a label that
//     is the port, or of an additional endpoint of a serverset. The default is
//     discovery.Instance.Port.
//   - ZONE is a value of the label zone. The instances that have it come first,
//     until less than half of them can be used: the others would get too much.
//
// Java Curator's own nodes have no labels, and so neither such ports nor zones.
// Spring's and Dubbo's have.
//
// Of several instances with the same address, the newest node counts: a process that
// has crashed and is back has another ID, and its old node stays until its session has
// timed out.
//
// # Names
//
// Servers see the name of the service as :authority, and TLS verifies it: for
// the target zookeeper:///eu/shop/orders, that is orders. grpc.WithAuthority
// sets another one. Nothing in ZooKeeper can do that.
//
// # Outages
//
// A call fails at once, or waits if it is to wait, while there is no list, and
// its error has the cause: why there is no connection to ZooKeeper, or that no
// instance is registered. Round robin shows the second cause only until the
// channel has had an instance. In an outage, a channel goes on with the list
// that it has.
//
// A channel that is idle, by default after 30 minutes without a call, has no
// list. If its next call comes in an outage, there is none.
// grpc.WithIdleTimeout(0) keeps it.
//
// # Instances that fail
//
// A resolver leaves out instances that drain or have gone. It does not see calls.
// gRPC's balancing policies do:
//
//   - round_robin leaves out a backend to which there is no connection. The option
//     grpc.WithKeepaliveParams finds one that does not answer any more, and
//     healthCheckConfig, which needs an import of google.golang.org/grpc/health,
//     leaves out a backend that reports itself as not serving.
//   - outlier_detection_experimental, which an import of google.golang.org/grpc/xds
//     registers, leaves out a backend that fails calls.
//
// With either, the retry policy of a service config gives a call to another backend.
//
// # Proxies
//
// Where the environment has HTTPS_PROXY, a channel needs grpc.WithNoProxy. Without
// it, gRPC dials the proxy in the place of each instance, and takes all instances for
// one.
package grpcresolver
