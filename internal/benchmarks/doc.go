// Benchmarks measures this module beside its peers, and writes what it has found
// to BENCHMARKS.md.
//
//	go run ./internal/benchmarks -measure   # about fifteen minutes, on an idle machine
//	go run ./internal/benchmarks            # writes the page anew
//
// The first command needs what the tests with Java need: a ZooKeeper server, Java,
// and Java Curator; see CONTRIBUTING.md. It writes docs/benchmarks.txt, which has
// the format of Go's benchmarks, so that benchstat reads it, too. The page and its
// picture, docs/growth.svg, are made of that file alone.
package main
