// Package curatorz serves a debug page of ZooKeeper clients, in the manner of
// net/http/pprof. Two lines of a service mount it:
//
//	client, err := framework.New("zk1:2181,zk2:2181,zk3:2181")
//	...
//	http.Handle("/debug/curatorz", curatorz.Handler(client))
//
// The page shows what package debug/snapshot knows: the session and the time
// that it has left, the servers that were tried, who holds and who waits and
// for whom, registrations, caches with their lag, instances and directories of
// services, watches, and the last events. Who waits comes first, and who waits longest. It needs no script and loads
// nothing. The same is served in three forms:
//
//	?format=html    the page; the default for browsers
//	?format=text    for terminals; the default for curl and the like
//	?format=json    a snapshot.Snapshot, for programs
//
// With ?path=orders, only what has "orders" in its path is shown, in each form.
// The page shows 100 items of each list, and up to snapshot.MaxItems with
// ?all=1. It loads itself again every five seconds with ?refresh=5.
//
// # Who may see it
//
// The page changes nothing, but it shows addresses of servers, paths, names of
// hosts, and errors. Serve it where net/http/pprof is served: on a port that
// only operators reach, or behind a check of rights.
//
// # What it costs
//
// Requests take memory in proportion to what they show: no list has more than
// snapshot.MaxItems items. No request waits for a ZooKeeper server. Between
// requests, the clients keep a record of what they do, which
// framework.WithRecentEvents sizes or turns off.
package curatorz
