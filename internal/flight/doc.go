// Package flight is the flight recorder of a client: it keeps what the client's
// recipes do now, and the last things that have happened. Package debug/curatorz
// starts and reads the [Recorder] of a client, and the recipes write to it. Clients
// without a debug page have a nil Recorder.
//
// Each acquire and its hold have a record while they go on, which is one
// allocation, or two if the acquire has to wait. A hold that is lost has its record
// until it is released, or until 1,000 others were lost and not released.
//
// Events are in two rings of fixed size. They keep strings and errors as they
// are, and only readers make texts of them. Rare events have a ring of their
// own, so that frequent ones do not push them out. A reader asks the
// registrations, caches and directories that go on. The recorder keeps the last
// ones that an error has ended, as they were then.
//
// The mutex of a Recorder is held for assignments only, and never while other
// code runs.
package flight
