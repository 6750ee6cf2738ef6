// Package retry has policies, which say how often and how soon to retry, and [Do], the
// only loop of this library that sleeps between attempts. The package does not depend on
// ZooKeeper.
//
//	policy := retry.Exponential(50*time.Millisecond, time.Second, 5)
//	err := retry.Do(ctx, policy, isTransient, call)
package retry
