// Package transport is the net.Conn that the framework hands to go-zookeeper.
//
// The library makes connections, performs the handshake and keeps the session alive
// with pings. It does all of that through a [Conn], which sees every frame in order.
// All other requests bypass the library, on the same connection. README.md lists the
// library's behaviour, this package's replacement, and the tests.
//
//   - link.go has the [Link], which the successive connections of one session share.
//   - conn.go reads and writes frames, in batches, and ends a connection.
//   - handshake.go authenticates, and sets watches again, before any request.
//   - call.go sends this package's requests. A caller can abandon a request when its
//     context ends. A limit of requests under way ensures that the server keeps
//     reading.
//   - inflight.go records when each request was sent, so that the time of the last
//     contact with the server is known. A session is safe until that time plus its
//     timeout, whatever happens later. (Curator counts from the moment when it notices
//     a disconnect, which is too late.)
//   - watches.go sets and removes watches.
//   - heartbeat.go confirms contact with the ensemble's leader, for clients
//     that do not trust a follower's word.
//   - endsession.go ends a session on a separate connection.
//   - shutdownconn.go is the library's last connection. The library shuts down
//     on it without a server.
//   - frame.go parses frames, and refuses frames that would make the library panic.
package transport
