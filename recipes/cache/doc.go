// Package cache keeps a copy of a part of ZooKeeper's tree in memory, as
// Curator's CuratorCache, TreeCache, PathChildrenCache and NodeCache do.
//
//	services, err := cache.New(client, "/services")
//	if err != nil {
//		return err
//	}
//	defer services.Close()
//	if err := services.WaitSynced(ctx); err != nil { // until everything was read once
//		return err
//	}
//	for node := range services.Children("/services/orders") {
//		fmt.Println(node.Path, string(node.Data))
//	}
//
// [Read] returns the tree once, as of one transaction, without a watch that stays.
//
// # What a cache promises
//
// A [Cache] is always equal to the server's tree as of one transaction, which
// [Cache.Zxid] names. It goes in steps from one such state to a later one, and
// never back. One call of [Cache.All] or [Cache.Children] sees one state. Two
// calls may see two states, with a step between them.
//
// [Cache.WaitFor] waits until the cache is as new as a transaction. A program
// that has written something, here or elsewhere, then finds it in the cache:
//
//	stat, err := client.Set(ctx, "/services/orders/a", data, framework.AnyVersion)
//	...
//	err = services.WaitFor(ctx, stat.Mzxid) // or client.LastZxid(), for a delete
//
// There are limits to that:
//
//   - A cache lags behind by the time of a few requests, and in an outage by as
//     long as that lasts. [Cache.Changes] tells when it is interrupted.
//   - A step takes at least the time of a request, and has everything that has
//     changed meanwhile. In a tree that never rests, a change is in the cache
//     after the time of about five requests. It takes two more each time that
//     another node begins to change faster than it can be read.
//   - The previous point holds as long as the nodes that change faster than they
//     can be read have no more than half a megabyte of data and names together.
//     With more, or with a server that refuses multiReads, the cache takes a step
//     when such nodes rest for once. [Cache.Stats] tells for how long the cache has
//     been behind.
//   - Nodes with ever new names that live for a shorter time than a read takes,
//     and of which there is always one, keep the cache from taking a step.
//   - The fields of a Stat that count children (Cversion, NumChildren, Pzxid) are
//     as old as the last read of the node itself. So is Aversion: servers tell
//     nobody of a new ACL.
//   - Nodes that the client may not read, or could not, are not in the cache.
//     [Cache.Unreadable] lists them, and says when they are read again. A node
//     that was deleted may stay in that list until then.
//   - Some servers check the permissions of events: 3.8.4, 3.9.2 and later ones.
//     They tell nothing of a node that the client may no longer read: no new
//     data, and no deletion. The cache keeps such a node as it was until it looks
//     at every node again.
//   - An ensemble that was set back to an older state, from a backup, sets the
//     cache back as well. The log has a warning.
//
// # How it learns of changes
//
// One recursive persistent watch tells of all changes. ZooKeeper has that since
// 3.6. On an older server the cache ends with an error that says so, and that
// matches framework.ErrUnimplemented. If a server refuses the watch for another
// reason, or has no time for it, the cache retries: the log has a warning, and
// WaitSynced returns the last error.
//
// A cache on ClickHouse Keeper ends with [ErrWrongEvents] when a node below its
// root changes, because Keeper sends the path of the watch instead of the node's.
// The cache sees that such an event is wrong, because it has not happened to the
// root. Only if the root was deleted and re-created in the same step, a wrong
// event can go unnoticed, and the change of the node with it.
//
// A change costs one read at most. When many nodes wait to be read, one request,
// a multiRead, reads several: when the cache is filled for the first time, and
// when nodes change faster than they can be read.
//
// After each reconnect, the cache looks at every node again. Here, too, one
// request looks at several nodes if they have little data. The cache compares
// the transactions that created and changed a node, so it notices that a node
// was deleted and re-created.
//
// # How it does
//
// [Cache.Stats] tells how far the cache is behind, in time and in transactions,
// and how often it had to read everything again. Package tracing makes metrics
// of that. The log has a line when a cache is up to date again, when a server has
// no time to set its watch again, and when the cache cannot read a node.
package cache
