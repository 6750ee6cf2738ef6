package discovery

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/gocurator/curator/internal/random"
)

// Strategy says which instance a Picker picks: RoundRobin, Random or Sticky. One
// Strategy may be given to many pickers, each of which has its own state.
type Strategy struct{ chooser func() chooser }

// chooser chooses one of a list, which is not empty. Renew returns the chooser
// for another list.
type chooser interface {
	choose(list []*member) *member
	renew(list []*member) chooser
}

// stateless is a chooser that does not depend on what it chose before.
type stateless func(list []*member) *member

func (s stateless) choose(list []*member) *member { return s(list) }

func (s stateless) renew([]*member) chooser { return s }

// RoundRobin picks one after the other, in the order of Update, and begins
// anywhere.
func RoundRobin() Strategy {
	return Strategy{func() chooser {
		next := &atomic.Uint64{}
		next.Store(uint64(random.Int(math.MaxInt32)))
		return stateless(func(list []*member) *member { return list[next.Add(1)%uint64(len(list))] })
	}}
}

// Random picks any.
func Random() Strategy {
	return Strategy{func() chooser {
		return stateless(func(list []*member) *member { return list[random.Int(len(list))] })
	}}
}

// Sticky stays with an instance for as long as it can be picked, and then takes
// the next one of another strategy. Changes to what an instance says do not
// matter, as long as it has the same service, ID, address and ports.
func Sticky(next Strategy) Strategy {
	if next.chooser == nil {
		return Strategy{}
	}
	return Strategy{func() chooser { return &sticky{next: next.chooser()} }}
}

type sticky struct {
	next chooser
	held atomic.Pointer[member]
}

func (s *sticky) renew(list []*member) chooser {
	renewed := &sticky{next: s.next.renew(list)}
	if held := s.held.Load(); held != nil {
		at := slices.IndexFunc(list, func(m *member) bool { return m.record == held.record })
		if at >= 0 {
			renewed.held.Store(list[at])
		}
	}
	return renewed
}

func (s *sticky) choose(list []*member) *member {
	if held := s.held.Load(); held != nil {
		return held
	}
	s.held.CompareAndSwap(nil, s.next.choose(list))
	return s.held.Load()
}
