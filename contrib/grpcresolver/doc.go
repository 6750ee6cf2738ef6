// Package grpcresolver lets gRPC channels find the instances of a service that
// are registered in ZooKeeper, by package discovery, Java Curator, Spring
// Cloud, Dubbo and others.
//
//	conn, err := grpc.NewClient("zookeeper:///services/orders",
//		grpc.WithResolvers(grpcresolver.NewBuilder(client)),
//		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"round_robin": {}}]}`),
//		grpc.WithTransportCredentials(creds))
//
// The client is a framework.Client. The option WithResolvers is necessary: importing
// this package does not register the scheme.
//
// # Targets
//
//	zookeeper://CLIENT/BASE/SERVICE?codec=FORMAT&port=PORT&zone=ZONE
//
// These are the parts:
//
//   - CLIENT is a name from [WithClient], and usually empty.
//   - BASE is the path of the registry, and SERVICE, the last element, is the name of a
//     service. %2F stands for a slash in a name.
//   - FORMAT is curator, spring, dubbo, serverset, or a name from [WithCodec]. The
//     default, curator, also reads the formats of Spring and Dubbo.
//   - PORT is ssl for discovery.Instance.TLSPort, or the name of a label that contains
//     the port, or the name of an additional endpoint of a serverset. The default is
//     discovery.Instance.Port.
//   - ZONE is a value of the label zone. The channel prefers instances with this value,
//     unless fewer than half of them can be used: the rest would be overloaded.
//
// Java Curator's own nodes have no labels, so they have neither such ports nor zones.
// Spring's and Dubbo's nodes have labels.
//
// Of several instances with the same address, only the newest node counts: a process
// that restarts after a crash has a new ID, and the old node stays until the old
// session times out.
//
// # Names
//
// Servers see the name of the service as :authority, and TLS verifies that name: orders
// for the target zookeeper:///eu/shop/orders. grpc.WithAuthority sets another name.
// Data in ZooKeeper cannot change the name.
//
// # Outages
//
// Without a list of instances, a call fails at once, or waits if it has
// grpc.WaitForReady. The error names the cause: why there is no connection to
// ZooKeeper, or that no instance is registered. Round robin shows the second cause only
// until the channel has had an instance. During an outage, a channel keeps using its
// list.
//
// A channel becomes idle after 30 minutes without a call by default, and drops its
// list. The next call then fails if ZooKeeper is down. grpc.WithIdleTimeout(0) prevents
// that.
//
// # Instances that fail
//
// A resolver leaves out instances that drain or have left. A resolver does not see
// calls, but gRPC's balancing policies do:
//
//   - round_robin leaves out a backend to which there is no connection. The option
//     grpc.WithKeepaliveParams detects a backend that no longer answers. With
//     healthCheckConfig, which needs an import of google.golang.org/grpc/health,
//     round_robin also leaves out a backend that reports itself as not serving.
//   - outlier_detection_experimental, which an import of google.golang.org/grpc/xds
//     registers, leaves out a backend that fails calls.
//
// With either policy, the retry policy of a service config sends a failed call to
// another backend.
//
// # Proxies
//
// If the environment has HTTPS_PROXY, a channel needs grpc.WithNoProxy. Otherwise gRPC
// dials the proxy instead of each instance, and takes all instances for one.
package grpcresolver
