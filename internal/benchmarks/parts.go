package main

// part is a group of benchmarks that is measured separately.
type part struct {
	name string
	args string // the arguments of go test
}

// parts are in the order of the results. The first part has the project's aims;
// -measure speed runs only that part.
var parts = []part{
	{"speed", "./testing/interop -run ^$ -bench ^BenchmarkSpeed$ -benchtime 9x -warm 4s -timeout 60m"},
	{"kept", "./recipes -run ^$ -bench ^BenchmarkKept$ -benchtime 1x -timeout 10m"},
	{"growth", "./recipes/locks -run ^TestCostDoesNotGrowWithTheCrowd$ -growth 1,10,100,1000,10000 -v -timeout 30m"},
	{"peers", "./testing/interop -run ^$ -bench ^BenchmarkPeers$ -benchtime 6x -warm 3s -timeout 30m"},
	{"fail-over", "./testing/interop -run ^$ -bench ^BenchmarkFailOver$ -benchtime 5x -timeout 30m"},
	{"cache", "./testing/interop -run ^$ -bench ^BenchmarkFirstSync$ -benchtime 3x -warm 3s -timeout 30m"},
}
