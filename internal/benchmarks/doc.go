// Benchmarks measures this module beside its peers, and writes what it has found
// to BENCHMARKS.md.
//
//	go run ./internal/benchmarks -measure .             # all parts, on an idle machine
//	go run ./internal/benchmarks -measure speed         # locks and counters, compared with zk.Lock and Curator
//	go run ./internal/benchmarks -measure 'peers|cache' # other parts: see parts.go
//	go run ./internal/benchmarks                        # writes the page from the last results
//
// To measure needs what the tests with Java need: a ZooKeeper server, Java, and
// Java Curator; see CONTRIBUTING.md. If CURATOR_ZOOKEEPER_MAVEN has a version,
// Maven fetches both. kazoo, etcd and redis-server are used if they are there.
// It writes docs/benchmarks.txt, which has the format of Go's benchmarks, so that
// benchstat reads it, too: with the commit, the versions and the time of each part.
// The page and its picture, docs/growth.svg, are made of that file alone.
//
// A part that fails stops no other, and leaves the figures that it had. The error
// names a file with what it has printed. Measure it again by its name.
package main
