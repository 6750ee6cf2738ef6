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
// A cache lags behind the server by a few round trips, and by the whole of an outage;
// [Cache.Changes] reports each interruption. Nodes that the client could not read are
// missing from the cache; see [Cache.Unreadable]. The other limits are in the
// documentation of [Cache].
//
// # Servers
//
// The cache sets one recursive persistent watch, which needs ZooKeeper 3.6. On an older
// server the cache ends with an error that matches [framework.ErrUnimplemented]. If the
// server cannot set the watch for another reason, such as overload, then the cache logs
// a warning and retries, and WaitSynced returns the last error. With ClickHouse Keeper,
// the cache ends with [ErrWrongEvents].
//
// # Monitoring
//
// [Cache.Stats] shows how far the cache is behind, in time and in transactions, and
// how often it has read the whole tree again. Package tracing exports metrics of it.
// The cache logs when it is up to date again, when the server is too busy to set its
// watch, and when it cannot read a node.
package cache
