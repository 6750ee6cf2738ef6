// Package transport is the net.Conn that the framework hands to go-zookeeper.
//
// The library writes each request with one Write and reads each reply as a length and a body, so a connection in
// between sees every frame, in order, and can do what the library's API cannot:
//
//   - clock.go    stamps requests, so that the time of the last confirmed contact with the server is known. A session
//     is safe until that time plus its timeout, whatever happens later (Curator counts from the moment it notices
//     a disconnect, which is too late).
//   - gate.go     holds requests back after a reconnect until the library has set its watches again. Otherwise a client
//     can read new data before it hears of the change, and the library races with itself on lastZxid.
//   - watches.go  knows which watches the library will set again, and withdraws those nobody waits for any more.
//   - call.go     sends requests of ours, which can be abandoned when a context ends, and take fewer goroutines.
//   - conn.go     batches writes, and never fails one: a failed write during re-authentication wedges the library for
//     good. A broken connection shows in Read, where the library expects it.
//   - handshake.go bounds the handshake, which the library leaves partly without a deadline, and turns a session that
//     the server silently replaced by another one into an expired session.
//   - frame.go    parses; frames that would make the library panic end the connection instead.
//
// A [Link] is what the successive connections of one session share.
package transport
