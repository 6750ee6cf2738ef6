// Package snapshot describes what clients of a process do at one moment: their
// connections, sessions and watches, the leases that they hold, what they wait
// for, what they keep registered, how far their caches are behind, what they
// know of services, and what has happened to them of late.
//
// [Of] takes a [Snapshot]. It is a plain struct, which encoding/json writes and
// reads, and [Snapshot.WriteText] writes it for people:
//
//	snapshot.Of(client).WriteText(os.Stderr)
//
// Package debug/curatorz serves snapshots over HTTP. A program that reads
// another process's page decodes the answer to the query format=json:
//
//	var s snapshot.Snapshot
//	err := json.NewDecoder(answer.Body).Decode(&s)
//
// A snapshot is for people. No program should decide by it whether a lock is
// held: the context of a lease tells that.
package snapshot
