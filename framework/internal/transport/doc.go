// Package transport is the net.Conn that the framework hands to go-zookeeper.
//
// The library makes connections, shakes hands, keeps the session alive with pings, and ends it. It does that through a
// [Conn], which sees every frame in order. Everything else goes past the library, on the same connection, because its API
// cannot do what a client needs: abandon a call, tell the zxid of an answer, take a watch back, or say that a session was
// replaced by another.
//
//   - call.go      sends requests of ours, which can be abandoned when a context ends.
//   - inflight.go  stamps requests, so that the time of the last confirmed contact with the server is known. A session
//     is safe until that time plus its timeout, whatever happens later (Curator counts from the moment it notices
//     a disconnect, which is too late).
//   - conn.go      batches writes, and never fails one: a broken connection shows in Read, where the library expects it.
//   - handshake.go bounds the handshake, which the library leaves partly without a deadline; makes authentication a part of
//     it; and turns a session that the server silently replaced by another one into an expired session.
//   - heartbeat.go confirms contact with the leader, for those who do not trust a follower's word.
//   - backpressure.go  bounds how many requests are under way, so that the server never stops reading.
//   - firstping.go makes sure of a new session that took long to create.
//   - suspension.go counts the time for which the machine was suspended, while Go's clock stood still.
//   - watches.go   sets the watches again on a new connection, before any request, and takes back those nobody waits for.
//   - endsession.go ends a session on a server, also one to which the library has lost its connection.
//   - shutdownconn.go is the library's last connection, on which it comes to its end without a server.
//   - frame.go     parses; frames that would make the library panic end the connection instead.
//
// A [Link] is what the successive connections of one session share.
package transport
