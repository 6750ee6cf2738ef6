// Package watches has the watches of a client: what the server is asked for,
// who waits for it, and what follows an event, a reconnect, or silence.
//
// There are two kinds. A [Watch] is a standard one: it tells of one change, and
// ends with its session. A [Reader] reads a persistent one, which outlives
// sessions. Both are in one package, with one mutex, because servers mix them up:
// see [Persistent].
//
//   - session.go has the watches of one session, and takes events;
//   - watch.go has a standard watch, and read.go the reads that set it;
//   - persistent.go has the persistent watches, answers.go what servers make of
//     the requests for them, events.go who is told, and reader.go who reads;
//   - looks.go asks about watches that have been silent for long.
package watches
