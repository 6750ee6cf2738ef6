// Package curatorz serves a debug page of ZooKeeper clients, in the manner of
// net/http/pprof. Three lines of a service mount it:
//
//	page := curatorz.New()
//	client, err := framework.New("zk1:2181,zk2:2181,zk3:2181", framework.WithHooks(page))
//	...
//	http.Handle("/debug/curatorz", page)
//
// The page shows:
//
//   - the session and its remaining time, the servers that were tried, and the watches
//   - the locks that the client holds, and the waits for locks with the holders, the
//     oldest wait first
//   - registrations, caches with their lag, and directories of services
//   - the last events
//
// The page needs no script and loads nothing. It has two forms, with the same words:
//
//	?format=html    the default for browsers
//	?format=text    for terminals; the default for curl and the like
//
// With ?path=orders, the page shows only items with "orders" in their paths, and events
// without a path. The page shows the first 100 items of each list, and up to 1,000 with
// ?all=1. With ?refresh=5, the page reloads every five seconds. [Page.WriteText] writes
// the text for programs without an HTTP server.
//
// # What is recorded
//
// A [Page] is an ordinary hook: see clienttrace.Hook. The page receives the events of
// each client that was created with it, and of that client's recipes. One Page may
// serve several clients.
//
// The page keeps 256 events of a client: the last 128 of the frequent kinds, such as
// grants and releases, and the last 128 others, such as losses. When a client is closed,
// its events stay on the page until 8 other clients were closed.
//
// If a goroutine waits for other goroutines of its client, the page shows the position
// at the beginning of the wait. A lost lock appears as an event and no longer among the
// holds, even if its holder still works. A lock counts as held until the release has
// returned: during a hand-over, the page may show two holders.
//
// The page is for people. No program should use the page to decide whether a lock is
// held; use the context of the lease. For numbers, see package tracing.
//
// # Who may see it
//
// The page changes nothing, but it shows addresses of servers, paths, names of hosts,
// and errors. Serve the page like net/http/pprof: on a port that only operators reach,
// or behind a check of rights.
//
// # What it costs
//
// A request needs memory in proportion to its answer, and never waits for a ZooKeeper
// server. The record needs about 50 kilobytes for a client's events, half a kilobyte
// for each waiting acquire or held lock, and some time in each acquire and release. A
// client without a page pays nothing.
package curatorz
