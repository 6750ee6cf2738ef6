// Package kratos is a registry for kratos on ZooKeeper: services register, and clients
// find them.
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
// Paths and data are the same as in kratos's own registry on ZooKeeper, byte by byte:
// /microservices/NAME/ID, with the JSON of a registry.ServiceInstance. Processes with
// either registry find each other, and a fleet can change from one to the other process
// by process.
//
// # What differs from kratos's own
//
//   - A deregistered service never reappears. A service whose session was lost is
//     registered again in the next session, whatever fails meanwhile.
//   - Another process's node with the same ID is a conflict, and is not deleted: see
//     [WithRegistrationOptions].
//   - All watchers of a service share one watch. Watchers never miss the latest state,
//     and an outage changes no list.
//   - A node that cannot be decoded does not affect other instances.
//
// # What kratos does with an empty list
//
// kratos's clients ignore a list without usable instances, and keep using the previous
// list. So a call to a service whose last instance has left fails only when the client
// dials that instance.
package kratos
