// Package watches has the watches of a client: the requests to the server, the waiting
// callers, and the reactions to events, reconnects and silence.
//
// There are two kinds. A [Watch] is a standard watch: it fires once, and ends with its
// session. A [Reader] reads a persistent watch, which survives sessions. Both are in one
// package, with one mutex, because servers mix up the two kinds: see [Persistent].
//
//   - session.go has the watches of one session: it passes on events, and has the reads
//     that set a standard watch;
//   - watch.go has the standard watch, and the list of all watches;
//   - persistent.go has the persistent watches, answers.go the servers' answers to
//     requests for them, and reader.go the readers;
//   - looks.go sets watches again: on a new connection, and after a long silence.
package watches
