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
// [Read] reads the tree once, as of one transaction, and leaves no watch behind.
//
// # Consistency
//
// A [Cache] always equals the server's tree as of one transaction; [Cache.Zxid] is
// that transaction. The cache moves in steps from one such state to a later state,
// and never back. A single call of [Cache.All] or [Cache.Children] sees one state.
// Between two calls, the cache may have taken a step.
//
// [Cache.WaitFor] waits until the cache is as new as a transaction. A program that
// has just written to ZooKeeper then reads its own write from the cache:
//
//	stat, err := client.Set(ctx, "/services/orders/a", data, framework.AnyVersion)
//	...
//	err = services.WaitFor(ctx, stat.Mzxid) // or client.LastZxid(), for a delete
//
// The limits are:
//
//   - A cache lags behind the server by a few round trips, and by the whole of an
//     outage. [Cache.Changes] reports each interruption.
//   - A step takes at least one round trip, and contains every change of that time.
//     In a tree that changes all the time, a change reaches the cache after about
//     five round trips. Each node that begins to change faster than the cache can
//     read it adds two, once.
//   - The bound of five round trips holds while all nodes that change faster than
//     the cache can read them have at most half a megabyte of data and names. With
//     more, or if the server refuses multiReads, the cache takes its next step when
//     these nodes pause. [Cache.Stats] shows how long the cache has been behind.
//   - The cache takes no step while there is always some node that has a new name
//     and is deleted before the cache can read it.
//   - The fields of a Stat that count children (Cversion, NumChildren, Pzxid) are
//     as old as the last read of the node itself. Aversion is as old, because a
//     server sends no event when an ACL changes.
//   - Nodes that the client could not read are missing from the cache.
//     [Cache.Unreadable] lists them, and says when the cache retries. A deleted
//     node may stay in that list until then.
//   - ZooKeeper 3.8.4, 3.9.2 and later versions send no events of nodes that the
//     client may no longer read, not even of a deletion. The cache keeps such a
//     node unchanged until it next reads the whole tree.
//   - If an ensemble is restored from an old backup, the cache goes back, too, and
//     logs a warning.
//
// # How the cache follows the tree
//
// The cache sets one recursive persistent watch, which needs ZooKeeper 3.6. On an
// older server the cache ends with an error that matches
// framework.ErrUnimplemented. If the server cannot set the watch for another reason,
// such as overload, then the cache logs a warning and retries, and WaitSynced
// returns the last error.
//
// ClickHouse Keeper sends events with the path of the watch instead of the node's
// path. The cache notices that no such event has happened to its root, and ends with
// [ErrWrongEvents]. A wrong event goes unnoticed only if the root itself was deleted
// and re-created in the same step.
//
// A change costs at most one read. The cache reads several nodes with one request, a
// multiRead, when many nodes wait to be read: at the first fill, and when nodes change
// faster than single reads could follow.
//
// After each reconnect, the cache checks every node. One request checks several
// nodes if these have little data. The cache compares the transactions that created
// and last changed a node, and so it notices a node that was deleted and re-created.
//
// # Monitoring
//
// [Cache.Stats] shows how far the cache is behind, in time and in transactions, and
// how often it has read the whole tree again. Package tracing exports metrics of it.
// The cache logs when it is up to date again, when the server is too busy to set its
// watch, and when it cannot read a node.
package cache
