package main

// part is something that is measured by itself.
type part struct {
	name string
	args string // what go test gets
}

// parts are in the order of the results. The first is what aims are about, and is
// run by itself with -measure speed.
var parts = []part{
	{"speed", "./testing/interop -run ^$ -bench ^BenchmarkSpeed$ -benchtime 9x -warm 4s -timeout 60m"},
	{"growth", "./recipes/locks -run ^TestCostDoesNotGrowWithTheCrowd$ -growth 1,10,100,1000,10000 -v -timeout 30m"},
	{"peers", "./testing/interop -run ^$ -bench ^BenchmarkPeers$ -benchtime 6x -warm 3s -timeout 30m"},
	{"fail-over", "./testing/interop -run ^$ -bench ^BenchmarkFailOver$ -benchtime 5x -timeout 30m"},
	{"cache", "./testing/interop -run ^$ -bench ^BenchmarkFirstSync$ -benchtime 3x -warm 3s -timeout 30m"},
}
