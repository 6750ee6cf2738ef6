package histories

import (
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"
)

// Acquired is the request of a successful acquire: the call lasts from its beginning to
// its return.
type Acquired struct {
	Token int64
	Read  bool // the lock is a read lock
}

// Ended is the end of a hold. The call begins with the release or, if the lease was
// lost, with the grant. It ends when the release has returned, or when the context of
// the lease has ended. After that, other clients may have the lock.
type Ended struct {
	Token int64
	Read  bool
}

// holders are the sorted tokens that hold a lock, and the largest token that ever held
// it.
type holders struct {
	writers, readers []int64
	last             int64
}

// Mutex is a lock with one holder at a time, whose tokens grow.
var Mutex = locks(func(h holders, a Acquired) bool { return len(h.writers) == 0 && a.Token > h.last })

// ReadWriteLock is a lock with one writer or any number of readers. The tokens of
// writers grow.
var ReadWriteLock = locks(func(h holders, a Acquired) bool {
	if a.Read {
		return len(h.writers) == 0
	}
	return len(h.writers) == 0 && len(h.readers) == 0 && a.Token > h.last
})

// Semaphore is a lock with a number of leases, each with its own token.
func Semaphore(leases int) porcupine.Model {
	return locks(func(h holders, a Acquired) bool { return len(h.writers) < leases })
}

// locks is the model of a lock with a rule of admission.
func locks(admits func(holders, Acquired) bool) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return holders{} },
		Step: func(state, asked, _ any) (bool, any) {
			h := state.(holders)
			switch a := asked.(type) {
			case Acquired:
				if !admits(h, a) {
					return false, h
				}
				return true, h.with(a)
			case Ended:
				return h.without(a)
			}
			panic(fmt.Sprintf("a lock cannot process a %T", asked))
		},
		Equal: func(a, b any) bool {
			g, h := a.(holders), b.(holders)
			return g.last == h.last && slices.Equal(g.writers, h.writers) && slices.Equal(g.readers, h.readers)
		},
		DescribeOperation: func(asked, _ any) string { return fmt.Sprintf("%T%+v", asked, asked) },
	}
}

// with and without do not change the lists of h, because the search returns to h.
func (h holders) with(a Acquired) holders {
	if a.Read {
		h.readers = slices.Sorted(slices.Values(append(slices.Clone(h.readers), a.Token)))
		return h
	}
	h.writers, h.last = slices.Sorted(slices.Values(append(slices.Clone(h.writers), a.Token))), max(h.last, a.Token)
	return h
}

// without removes the token of a lease that has ended, and reports whether the token had
// held the lock.
func (h holders) without(e Ended) (held bool, _ holders) {
	list := &h.writers
	if e.Read {
		list = &h.readers
	}
	i := slices.Index(*list, e.Token)
	if i < 0 {
		return false, h
	}
	*list = slices.Delete(slices.Clone(*list), i, i+1)
	return true, h
}
