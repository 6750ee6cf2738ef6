// Package watches has the watches of a client: the requests to the server, the waiting
// callers, and what follows an event, a reconnect, or silence.
//
// There are two kinds. A [Watch] is a standard watch: it fires once, and ends with its
// session. A [Reader] reads a persistent watch, which survives sessions. Both are in one
// package, with one mutex, because servers mix up the two kinds: see [Persistent].
//
//   - session.go has the watches of one session, and takes events;
//   - watch.go has a standard watch, and read.go the reads that set it;
//   - persistent.go has the persistent watches, answers.go the servers' answers to
//     requests for them, events.go passes events on, and reader.go has the readers;
//   - looks.go sets watches again that have been silent for long.
package watches
