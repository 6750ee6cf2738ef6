// Benchmarks measures this module together with its peers, and writes the results to
// BENCHMARKS.md.
//
//	go run ./internal/benchmarks -measure .             # all parts, on an idle machine
//	go run ./internal/benchmarks -measure speed         # locks and counters, compared with zk.Lock and Curator
//	go run ./internal/benchmarks -measure 'peers|cache' # other parts: see parts.go
//	go run ./internal/benchmarks                        # writes the page from the last results
//
// Measuring needs the same as the tests with Java: a ZooKeeper server, Java, and Java
// Curator; see CONTRIBUTING.md. If CURATOR_ZOOKEEPER_MAVEN has a version, Maven fetches
// ZooKeeper and Curator. kazoo, etcd and redis-server are used if they are installed.
// The results go to docs/benchmarks.txt, in the format of Go's benchmarks and of
// benchstat, with the commit, the versions and the time of each part. The page and its
// picture, docs/growth.svg, depend only on that file.
//
// A part that fails does not stop other parts, and keeps its old figures. The error
// names a file with the part's output. Measure the part again by its name.
package main
