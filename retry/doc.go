// Package retry holds the policies that say how often and how soon to try
// again, and [Do], the only loop of this library that sleeps between attempts.
// It knows nothing of ZooKeeper.
//
//	policy := retry.Exponential(50*time.Millisecond, time.Second, 5)
//	err := retry.Do(ctx, policy, isTransient, call)
package retry
