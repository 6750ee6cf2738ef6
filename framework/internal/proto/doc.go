// Package proto has the messages of ZooKeeper's wire protocol that this library writes
// and reads itself: headers, requests with their answers, and the codes of operations
// and errors. Package jute has the primitives.
//
// The package is pure: it uses no client, no connection and no clock. The types that
// users of the client get are go-zookeeper's, which itself encodes only the handshake,
// the pings and the end of a session.
//
// # Decoding
//
// Every function that reads accepts any bytes: it does not panic, and allocates at most
// in proportion to its input. It returns false for a message that is too short,
// contains an impossible length, or whose parts contradict each other or the request.
// Reading functions ignore bytes after a message, because newer servers append fields.
// Only the answer to a multi has an end mark, after which nothing may follow.
//
// # The twin in testing/zktest
//
// Package testing/zktest has a second codec for the same messages, on purpose. A fake
// server that shared its client's codec would agree with every mistake in it, and a test
// against the fake would prove nothing about the wire.
package proto
