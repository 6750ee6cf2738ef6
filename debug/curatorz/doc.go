// Package curatorz serves a debug page of ZooKeeper clients, in the manner of
// net/http/pprof. Three lines of a service mount it:
//
//	page := curatorz.New()
//	client, err := framework.New("zk1:2181,zk2:2181,zk3:2181", framework.WithHooks(page))
//	...
//	http.Handle("/debug/curatorz", page)
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
// [Page.WriteText] writes the text where there is no HTTP server.
//
// # What is recorded
//
// A [Page] is a hook like those that programs write: see clienttrace.Hook. It receives
// the events of each client that was made with it, and of that client's recipes. One
// Page may serve several clients.
//
// The page keeps 256 events of a client: the last 128 of the frequent kinds, such as
// grants and releases, and the last 128 others, such as losses. When a client is closed,
// its events stay on the page until 8 other clients were closed.
//
// A goroutine that waits for others of its client is shown with the place that it had
// when it began to wait. A lock that was lost is an event, and not among the holds any
// more, even if its holder still works. A lock counts as held until the release has
// returned: during a hand-over, the page may show two holders.
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
// ZooKeeper server. The record takes about 50 kilobytes for a client's events, half
// a kilobyte for each lock that is waited for or held, and some time of each
// acquire and release. A client without a page pays nothing.
package curatorz
