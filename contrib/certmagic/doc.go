// Package certmagic keeps the certificates of certmagic, and of programs built on
// certmagic, in ZooKeeper, for all processes that serve the same names:
//
//	import certstore "github.com/gocurator/curator/contrib/certmagic"
//
//	storage, err := certstore.New(client, "/certmagic", zk.AuthACL(zk.PermAll))
//	...
//	certmagic.Default.Storage = storage
//
// For Caddy, the subpackage caddystorage registers the storage as a module.
//
// # Who may read
//
// The values include private keys. Anyone who reaches a ZooKeeper server can read nodes
// without an access control list, without a password and without a trace. So [New]
// requires a list. For zk.AuthACL, the client needs credentials from
// framework.WithAuth.
//
// # Locks
//
// certmagic takes a lock before it obtains or renews a certificate, and stores the
// result under that lock. The Storage implements these locks by package recipes/locks:
// they are fair, never expire while the holder's session lives, and are free when the
// session ends.
//
// A process that was paused or partitioned may continue after it has lost a lock.
// certmagic does not notice. The [Storage] does: it refuses a Store or a Delete that a
// lost lock guards with [ErrLockLost], even if this process has not learned of the
// loss. [Storage.Lock] says which keys a lock guards.
//
// # Nodes
//
// The root has two folders, "keys" and "locks". Each component of a key is a node below
// "keys", and each name of a lock is a node right below "locks". In the names of nodes,
// letters, digits and any of "-_.~$&+=:@" stand for themselves. As in url.PathEscape,
// any other byte becomes "%" and two hexadecimal digits; the dots of "." and ".." do
// so, too. So "*.example.com" is the node "%2A.example.com". List ignores nodes with
// other names.
//
// The data of a node is the value. The data is empty if the key is only the prefix of
// other keys. A value that is empty or begins with a zero byte is stored with one more
// zero byte in front.
package certmagic
