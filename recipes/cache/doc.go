// Package cache keeps a copy of a part of ZooKeeper's tree in memory, as
// Curator's CuratorCache, TreeCache, PathChildrenCache and NodeCache do.
//
//	services, err := cache.New(client, "/services")
//	if err != nil {
//		return err
//	}
//	defer services.Close()
//	if err := services.Synced(ctx); err != nil { // until everything was read once
//		return err
//	}
//	for node := range services.Children("/services/orders") {
//		fmt.Println(node.Path, string(node.Data))
//	}
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
//     changed meanwhile. A node that changes again within each such time keeps
//     the cache from taking a step until it rests for once. With standard
//     watches, the whole tree must rest.
//   - The fields of a Stat that count children (Cversion, NumChildren, Pzxid) are
//     those of the last time that the node itself was read.
//   - Nodes that the client may not read are not in the cache.
//     [Cache.Unreadable] lists them.
//   - An ensemble that was set back to an older state, from a backup, sets the
//     cache back as well. The log has a warning.
//
// # How it learns of changes
//
// One recursive persistent watch tells of all changes. ZooKeeper has that since
// 3.6. In two cases the cache sets standard watches instead, two for each node,
// and says so in the log: if the server is older, and if its events prove wrong
// (ClickHouse Keeper sends the path of the watch, and not that of the node).
//
// After each reconnect, the cache looks at every node again, with one small
// request for each. It compares the transactions that created and changed a
// node, so it notices that a node was deleted and made anew.
package cache
