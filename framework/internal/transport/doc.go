// Package transport is the net.Conn that the framework hands to go-zookeeper.
//
// The library makes connections, performs the handshake, keeps the session
// alive with pings, and ends it. It does all of that through a [Conn], which
// sees every frame in order. All other requests go around the library, on the
// same connection, because the library's API cannot do what a client needs:
// abandon a call, report the zxid of an answer, remove a watch, or report that
// the server has replaced the session by another.
//
//   - call.go sends our own requests. A caller can abandon one when its context
//     ends.
//   - inflight.go records when each request was sent, so that the time of the
//     last contact with the server is known. A session is safe until that time
//     plus its timeout, whatever happens later. (Curator counts from the moment
//     it notices a disconnect, which is too late.)
//   - conn.go batches writes, and never fails one: a broken connection shows in
//     Read, where the library expects it.
//   - handshake.go sets a deadline for the whole handshake, because the library
//     leaves a part of it without one. It makes authentication a part of the
//     handshake. It reports a session that the server silently replaced as an
//     expired session.
//   - heartbeat.go confirms contact with the ensemble's leader, for clients
//     that do not trust a follower's word.
//   - backpressure.go bounds how many requests are under way, so that the
//     server never stops reading.
//   - firstping.go keeps a new session alive that took long to create.
//   - watches.go sets the watches again on a new connection, before any
//     request, and removes those that no caller needs any more.
//   - endsession.go ends a session on a server, even after the library has lost
//     its connection.
//   - shutdownconn.go is the library's last connection. The library shuts down
//     on it without a server.
//   - frame.go parses frames. A frame that would make the library panic ends
//     the connection instead.
//
// A [Link] is what the successive connections of one session share.
package transport
