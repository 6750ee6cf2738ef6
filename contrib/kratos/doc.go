// Package kratos is a registry of kratos on ZooKeeper: services of kratos
// register in it, and its clients find them.
//
//	import zookeeper "github.com/gocurator/curator/contrib/kratos"
//
//	r := zookeeper.New(client)
//	app := kratos.New(kratos.Name("orders"), kratos.Server(server), kratos.Registrar(r))
//	...
//	conn, err := http.NewClient(ctx, http.WithEndpoint("discovery:///orders"), http.WithDiscovery(r))
//
// The client is a framework.Client. Close it after the apps and the connections.
//
// Paths and data are the same as those of kratos's own registry on ZooKeeper, byte by
// byte: /microservices/NAME/ID, with the JSON of a registry.ServiceInstance.
// Processes with either registry find each other, and a fleet can change from one
// to the other process by process.
//
// # What differs from kratos's own
//
//   - A service that was deregistered never comes back. One whose session was lost
//     comes back with the next session, whatever fails meanwhile.
//   - Somebody else's node with the ID is a conflict, and not deleted: see
//     [WithRegistrationOptions].
//   - All watchers of a service share one watch. No last state is missed, and an
//     outage changes no list.
//   - A node that cannot be read spoils nothing for the others.
//
// # What kratos does with an empty list
//
// kratos's clients ignore a list without an instance that they can call, and go on
// with the last one. So calls of a service whose last instance has gone fail when
// they are made.
package kratos
