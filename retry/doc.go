// Package retry holds the policies that say how often and how soon to try
// again, and [Do], the only loop of this library that sleeps between attempts.
// It knows nothing of ZooKeeper.
//
//	policy := retry.BoundedExponential(50*time.Millisecond, time.Second, 5)
//	err := retry.Do(ctx, policy, isTransient, call)
//
// A [Policy] is a factory: every use gets its own state, so one Policy value
// may serve any number of goroutines.
//
// Loops that are nested through their contexts share the outermost loop's
// budget. Without that rule three attempts around three attempts are nine
// (CURATOR-559).
package retry
