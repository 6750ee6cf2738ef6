// Package certmagic keeps the certificates of certmagic, and of what is built on
// it, in ZooKeeper, for all processes that serve the same names:
//
//	import certstore "github.com/gocurator/curator/contrib/certmagic"
//
//	storage, err := certstore.New(client, "/certmagic", zk.AuthACL(zk.PermAll))
//	...
//	certmagic.Default.Storage = storage
//
// For Caddy, package caddystorage below this one registers the storage as a module.
//
// # Who may read
//
// The values are private keys, among others. Everybody who reaches a ZooKeeper
// server can read nodes that have no access control list, without a password and
// without a trace. So [New] takes a list, and refuses to do without one. For
// zk.AuthACL the client needs credentials, by framework.WithAuth.
//
// # Locks
//
// certmagic takes a lock before it obtains or renews a certificate, and stores the
// result under it. Its locks are recipes/locks here: fair, without a time after
// which they are taken for stale, and free again when their holder's session ends.
//
// A process that was stopped, or cut off, may go on after it has lost a lock.
// certmagic does not notice. The [Storage] does: a Store or a Delete that a lost
// lock guards is refused with [ErrLockLost], whether this process knows of the loss
// or not. [Storage.Lock] says which keys a lock guards.
//
// # Nodes
//
// Below the root there are two folders, "keys" and "locks". Each component of a
// key is a node below "keys", and each name of a lock one right below "locks".
// Letters, digits and any of "-_.~$&+=:@" are themselves in the names of nodes.
// Each other byte is "%" and two hexadecimal digits, as url.PathEscape has it, and
// so are the dots of "." and "..": "*.example.com" is the node "%2A.example.com".
// Nodes with other names are nobody's keys, and List leaves them out.
//
// The data of a node is the value, or empty for a key that is only the prefix of
// others. A value that is empty, or that begins with a zero byte, has one more zero
// byte in front.
package certmagic
