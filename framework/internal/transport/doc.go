// Package transport is the net.Conn that the framework hands to go-zookeeper.
//
// The library makes connections, performs the handshake and keeps the session
// alive with pings. It does all of that through a [Conn], which sees every frame in
// order. All other requests go past the library, on the same connection. README.md
// lists what the library does, what this package does instead, and which test
// shows it.
//
//   - link.go is what the successive connections of one session share: a [Link].
//   - conn.go reads and writes frames, in batches, and ends a connection.
//   - handshake.go authenticates, and sets watches again, before any request.
//   - call.go sends our own requests. A caller can abandon one when its context
//     ends. A bound on what is under way keeps the server from reading no more.
//   - inflight.go records when each request was sent, so that the time of the
//     last contact with the server is known. A session is safe until that time
//     plus its timeout, whatever happens later. (Curator counts from the moment
//     it notices a disconnect, which is too late.)
//   - watches.go sets and removes watches.
//   - heartbeat.go confirms contact with the ensemble's leader, for clients
//     that do not trust a follower's word.
//   - endsession.go ends a session on another connection than the library's.
//   - shutdownconn.go is the library's last connection. The library shuts down
//     on it without a server.
//   - frame.go parses frames, and refuses those that would make the library panic.
package transport
