// Package flight is the flight recorder of a client: it keeps what the client's
// recipes do now, and the last things that have happened. Package framework
// makes one [Recorder] for each client, the recipes write to it, and package
// debug/snapshot reads it.
//
// It is cheap enough to be always on. What goes on is a list of records, one
// for each acquire and hold, which is one allocation. What has happened is in
// two rings of fixed size, which keep strings and errors as they are: nobody
// makes texts of them before somebody reads them. Rare events have a ring of
// their own, so that frequent ones do not push them out.
//
// The mutex of a Recorder is held for a few assignments, and never while other
// code runs.
package flight
