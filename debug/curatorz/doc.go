// Package curatorz serves a debug page of ZooKeeper clients, in the manner of
// net/http/pprof. Two lines of a service mount it:
//
//	client, err := framework.New("zk1:2181,zk2:2181,zk3:2181")
//	...
//	http.Handle("/debug/curatorz", curatorz.Handler(client))
//
// The page shows the session and the time that it has left, the locks that the
// client waits for and holds, and for whom it waits, registrations, caches with
// their lag, directories of services, the last events, the servers that were
// tried, and watches. The oldest waits come first. The page needs no script and
// loads nothing. It has two forms, with the same words:
//
//	?format=html    the default for browsers
//	?format=text    for terminals; the default for curl and the like
//
// With ?path=orders, only items with "orders" in their paths are shown, and events
// without a path. The page shows the first 100 items of each list, and up to 1,000
// with ?all=1. It loads itself again every five seconds with ?refresh=5.
// [WriteText] writes the text where there is no HTTP server.
//
// # What is recorded
//
// A client records nothing until [Handler] or [WriteText] is first called with it.
// From that call on, it records locks, registrations, caches, directories and
// events. The page says since when, and does not list locks, registrations, caches
// and directories that began before. The node of a lock that was acquired before is
// only among the watches. So call Handler right after framework.New. A program
// without an HTTP server can call WriteText with io.Discard there.
//
// The record has the last 256 events of the rare kinds, such as losses, and as many
// of the frequent kinds, such as grants. It ends with the client.
//
// The page is for people. No program should decide by it whether a lock is held:
// the context of a lease tells that. For numbers, see package tracing.
//
// # Who may see it
//
// The page changes nothing, but it shows addresses of servers, paths, names of
// hosts, and errors. Serve it where net/http/pprof is served: on a port that
// only operators reach, or behind a check of rights.
//
// # What it costs
//
// Requests take memory in proportion to what they show. No request waits for a
// ZooKeeper server. The record takes about 100 kilobytes for a client's events, half
// a kilobyte for each lock that is waited for or held, and some time of each
// acquire and release. A client without a page pays nothing.
package curatorz
