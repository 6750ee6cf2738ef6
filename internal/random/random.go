// Package random has the random numbers that decide when and in which order something
// is done. It uses math/rand and not math/rand/v2, because a test can seed math/rand:
// package internal/explore does so, to make each search the same.
package random

import (
	"math/rand"
	"time"
)

// Duration returns a duration from 0 to below end, which must be positive.
func Duration(end time.Duration) time.Duration { return time.Duration(rand.Int63n(int64(end))) }

// Int returns a number from 0 to below end, which must be positive.
func Int(end int) int { return rand.Intn(end) }

// Shuffle brings elements into a random order.
func Shuffle[E any](list []E) {
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}
