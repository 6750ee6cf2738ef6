//go:build real

package start

// Serve is the function that a serving program runs.
var Serve = run
