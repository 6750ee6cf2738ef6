package main

// part is something that is measured by itself.
type part struct {
	name string
	args string // what go test gets
}

// parts are in the order of the results. The times of Java Curator with 500 threads
// on one object are so long that two rounds have to do.
var parts = []part{
	{"growth", "./recipes/locks -run ^TestCostDoesNotGrowWithTheCrowd$ -growth 1,10,100,1000,10000 -v -timeout 30m"},
	{"zk.Lock", "./recipes/locks -run ^$ -bench ^BenchmarkAgainstZkLock$ -benchtime 10x -timeout 30m"},
	{"crowd", "./recipes/locks -run ^$ -bench ^BenchmarkCrowdOfOneClient$ -benchtime 1x -crowds 1000 -timeout 30m"},
	{"bare", "./recipes/locks -run ^$ -bench ^BenchmarkUncontended$ -benchtime 3000x -timeout 30m"},
	{"several", "./recipes/locks -run ^$ -bench ^BenchmarkCachedLock$ -benchtime 1000x -timeout 30m"},
	{"curator", "./testing/interop -run ^$ -bench ^BenchmarkAgainstCurator$ -skip ^BenchmarkAgainstCurator$/^500-on-one-object$ -benchtime 8x -warm 5s -timeout 30m"},
	{"curator-500", "./testing/interop -run ^$ -bench ^BenchmarkAgainstCurator$/^500-on-one-object$ -benchtime 2x -warm 0s -timeout 30m"},
	{"peers", "./testing/interop -run ^$ -bench ^BenchmarkPeers$ -benchtime 6x -warm 3s -timeout 30m"},
	{"fail-over", "./testing/interop -run ^$ -bench ^BenchmarkFailOver$ -benchtime 5x -timeout 30m"},
	{"counters", "./testing/interop -run ^$ -bench ^BenchmarkIncrements$ -benchtime 5x -warm 3s -timeout 30m"},
	{"cache", "./testing/interop -run ^$ -bench ^BenchmarkFirstSync$ -benchtime 3x -warm 3s -timeout 30m"},
}
