//go:build race

package explore

// raced says that the race detector is at work. It runs goroutines in a random
// order, so that the same choices may lead to other states.
const raced = true
