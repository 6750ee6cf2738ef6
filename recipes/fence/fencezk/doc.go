// Package fencezk makes ZooKeeper refuse writes from a process that has lost its lock
// without noticing, and keeps the fencing tokens of other resources in ZooKeeper.
//
// A [Client] writes data in the ensemble of the lock. Each write is a transaction that
// also checks that the holder's node exists:
//
//	fenced := fencezk.New(client, lease)
//	data, stat, err := fenced.Get(ctx, "/stock/sku-42")
//	if err != nil {
//		return err
//	}
//	_, err = fenced.Set(ctx, "/stock/sku-42", sell(data), stat.Version)
//	if errors.Is(err, fence.ErrStale) {
//		return err // the lock was lost
//	}
//
// [NewStore] is for services without a database: package fencehttp and module
// contrib/fencegrpc check tokens in its store.
package fencezk
