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
// The client is a framework.Client, which the user closes last.
//
// # Nodes
//
// The nodes are the same as the nodes of github.com/hertz-contrib/registry/zookeeper, so that
// a fleet can move over process by process: /orders/10.0.0.7:8888 with
// {"Weight":10,"Tags":{"idc":"hd1"}}. Their readers take our nodes, and we take
// theirs. Two of their mistakes are not repeated: a
// service with a slash before its name keeps the name, and a server that listens
// on 0.0.0.0 registers an address that others can dial.
//
// User and password of a client, and the access control list of its nodes, are
// framework.WithAuth and framework.WithACLProvider.
//
// # How soon clients know
//
// hertz asks a Resolver for each service that it calls every five seconds, and
// keeps the answer. A Resolver answers from its directory, which follows the
// service, and makes no request. So hertz may ask more often: see
// sd.WithLoadBalanceOptions. An instance whose node is gone stays for another
// second: see discovery.WithRemovalGrace.
package hertz
