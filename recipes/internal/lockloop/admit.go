package lockloop

// Decision is what a predicate says of one contender.
type Decision struct {
	Granted bool
	Watch   string // if not granted: the node whose deletion is the next chance
}

// Admit decides, from the whole queue in order and our place in it, whether we hold the lock. It must be a pure
// function. Watch must be a node ahead of ours, and each waiter's should be another one: a lock that makes all
// waiters watch the same node wakes them all.
type Admit func(queue []Contender, ours int) Decision

// First admits the first n of the queue. A waiter watches the node n places ahead: when that one goes, either it is
// its turn or the queue has moved. No more than none are admitted if n is negative.
func First(n int) Admit {
	n = max(n, 0)
	return func(queue []Contender, ours int) Decision {
		if ours < n {
			return Decision{Granted: true}
		}
		return Decision{Watch: queue[ours-n].Node}
	}
}
