// Package moving holds the code of the guides for people who come from another
// library: docs/FROM_ZK_LOCK.md, FROM_CURATOR.md, FROM_ETCD.md, FROM_CONSUL.md,
// FROM_REDSYNC.md and MIGRATING.md, and of docs/FAQ.md. Each function stands in one of
// them, and a test runs it.
package moving
