// Package hertz registers servers of hertz in ZooKeeper, and finds them:
//
//	server.New(server.WithHostPorts(":8888"), server.WithRegistry(
//		hertz.NewRegistry(client),
//		&registry.Info{ServiceName: "orders", Addr: utils.NewNetAddr("tcp", ":8888"), Weight: 10},
//	))
//
//	resolver := hertz.NewResolver(client)
//	defer resolver.Close()
//	cli.Use(sd.Discovery(resolver))
//	cli.Get(ctx, nil, "http://orders/ping", config.WithSD(true))
//
// The client is a framework.Client. Close the client last.
//
// # Nodes
//
// The nodes are the same as the nodes of github.com/hertz-contrib/registry/zookeeper, so that
// a fleet can move over process by process: /orders/10.0.0.7:8888 with
// {"Weight":10,"Tags":{"idc":"hd1"}}. Either registry reads the other's nodes. Two mistakes
// of the other registry are not repeated: a service with a slash before its name keeps the
// name, and a server that listens on 0.0.0.0 registers an address that clients can dial.
//
// For user and password of a client, use framework.WithAuth; for the access control
// list of its nodes, framework.WithACLProvider.
//
// # How soon clients know
//
// Every five seconds, hertz asks a Resolver for each service in use, and keeps the
// answer. A Resolver answers from its directory without a request, so hertz can ask
// more often: see sd.WithLoadBalanceOptions. An instance whose node was deleted stays
// for another second: see discovery.WithRemovalGrace.
package hertz
