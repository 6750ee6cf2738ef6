// Package zkwatcher tells casbin's enforcers of each other's changes, over
// ZooKeeper. A policy that one instance changes is enforced by all others:
//
//	enforcer, err := casbin.NewSyncedEnforcer("model.conf", adapter)
//	...
//	watcher, err := zkwatcher.New(client, "/casbin/policy", enforcer.LoadPolicy)
//	...
//	defer watcher.Close()
//	err = enforcer.SetWatcher(watcher)
//
// [Watcher] is a persist.Watcher of casbin v2 and v3: it has the methods, and
// this package imports neither.
//
// # No missed change
//
// The node has the last change, and not a message that may find nobody there.
// An instance that was cut off reads it when it is back, and so does one whose
// session was lost. Many changes at once are one callback, which begins after
// the last of them. A policy that cannot be loaded is loaded again until that
// succeeds, and a change that cannot be told, for want of a connection, is told
// when there is one.
//
// # Why the whole policy
//
// casbin has a WatcherEx, too, which tells what was added or removed. One
// callback for many changes cannot say that of each, and an instance that was
// cut off would apply what it hears of to a policy that lacks the rest. So a
// Watcher is not a WatcherEx: each callback loads the whole policy. A callback
// that loads a part is one of your own, which calls LoadFilteredPolicy. Nor is
// a Watcher an UpdatableWatcher: casbin calls Update in place of that.
//
// # No silent end
//
// Outages and losses of the session do not end a Watcher. What ends it is
// closed or refused: [Watcher.Done] and [Watcher.Err] tell, and the client's
// log has a line.
//
// A callback that panics ends the process, as on every other goroutine: a
// SyncedEnforcer that panics in LoadPolicy keeps its lock for ever.
//
// GUARANTEES.md lists every promise, and the tests that hold it.
package zkwatcher
