// Package proto has the messages of ZooKeeper's wire protocol that this library
// writes and reads itself: headers, requests with their answers, and the codes
// of operations and errors. Package jute has the primitives that they consist
// of.
//
// The package is pure. It knows no client, no connection and no clock. It does
// not know go-zookeeper either, which encodes only the handshake, the pings and
// the end of a session.
//
// # Decoding
//
// Every function that reads takes any bytes: it does not panic, and it
// allocates no more than in proportion to what it was given. It reports false
// for a message that is too short, that has an impossible length in it, or whose
// parts contradict each other or the request. Bytes that follow a message are
// ignored, because newer servers append fields. Only the answer to a multi has an
// end mark, and nothing may follow that.
//
// # The twin in testing/zktest
//
// Package testing/zktest has a second codec for the same messages, on purpose. A fake
// server that shared its client's codec would agree with every mistake in it, and a test
// against the fake would prove nothing about the wire.
package proto
