package discovery

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/gocurator/curator/internal/random"
)

// Strategy says which instance a Picker picks. One Strategy may be given to many
// pickers: each has a state of its own.
type Strategy struct {
	prefer  func(all []*member) []*member // those to pick from
	chooser func() chooser
}

// chooser chooses one of a list, which is not empty. Renew returns the chooser
// for another list.
type chooser interface {
	choose(list []*member, key string) *member
	renew(list []*member) chooser
}

func strategyOf(s stateless) Strategy { return Strategy{notEjected, func() chooser { return s }} }

func notEjected(all []*member) []*member {
	return slices.DeleteFunc(slices.Clone(all), func(m *member) bool { return m.out || m.instance.Disabled })
}

// stateless is a chooser that does not look at what it chose before.
type stateless func(list []*member, key string) *member

func (s stateless) choose(list []*member, key string) *member { return s(list, key) }

func (s stateless) renew([]*member) chooser { return s }

// RoundRobin picks one after the other, in the order of Update, and begins
// anywhere.
func RoundRobin() Strategy {
	return Strategy{notEjected, func() chooser {
		next := &atomic.Uint64{}
		next.Store(uint64(random.Int(math.MaxInt32)))
		return stateless(func(list []*member, _ string) *member { return list[next.Add(1)%uint64(len(list))] })
	}}
}

// Random picks any.
func Random() Strategy {
	return strategyOf(func(list []*member, _ string) *member { return list[random.Int(len(list))] })
}

// PowerOfTwo looks at any two instances and picks the one that has fewer
// requests under way. Requests are counted from Pick to Done.
func PowerOfTwo() Strategy {
	return strategyOf(func(list []*member, _ string) *member {
		if len(list) == 1 {
			return list[0]
		}
		first, second := random.Int(len(list)), random.Int(len(list)-1)
		if second >= first {
			second++
		}
		if list[second].busy.Load() < list[first].busy.Load() {
			return list[second]
		}
		return list[first]
	})
}

// Sticky stays with an instance for as long as it can be picked, and then takes
// the next one of another strategy. Changes to what an instance says do not
// matter, as long as it has the same service, ID, address and ports.
func Sticky(next Strategy) Strategy {
	if next.chooser == nil {
		return Strategy{}
	}
	return Strategy{next.prefer, func() chooser { return &sticky{next: next.chooser()} }}
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

func (s *sticky) choose(list []*member, key string) *member {
	if held := s.held.Load(); held != nil {
		return held
	}
	s.held.CompareAndSwap(nil, s.next.choose(list, key))
	return s.held.Load()
}

// Rendezvous picks the same instance for the same key, in all processes that see
// the same instances. When an instance goes, only its keys move, and when one
// comes, only its own keys move to it. See PickFor. A pick looks at all
// instances.
func Rendezvous() Strategy {
	return strategyOf(func(list []*member, key string) *member {
		of, best, most := hash(key), list[0], uint64(0)
		for _, m := range list {
			if score := mix(of ^ m.hash); score > most {
				best, most = m, score
			}
		}
		return best
	})
}

// hashOf returns what the keys of an instance depend on. Those of two services may
// have the same ID.
func hashOf(i Instance) uint64 { return hash(i.Service + "/" + i.ID) }

// hash is FNV-1a with a finish, and the same in all processes.
func hash(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return mix(h)
}

// mix is the finish of SplitMix64: each bit of x changes half of the bits.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// ZoneFirst applies a strategy to the instances whose metadata have a value, such
// as the zone of the caller for the label zone. It applies the strategy to all
// instances if none of the zone can be picked, or less than half of them, also
// because they drain: the others would get too much. Formats that leave metadata
// out, as CuratorCodec does, have no zones.
func ZoneFirst(label, value string, s Strategy) Strategy {
	if s.chooser == nil {
		return Strategy{}
	}
	return Strategy{func(all []*member) []*member {
		near := slices.DeleteFunc(slices.Clone(all), func(m *member) bool { return m.instance.Metadata[label] != value })
		// They are counted before the strategy chooses, which may be about a zone, too.
		if ZoneSuffices(len(notEjected(near)), len(near)) {
			return s.prefer(near)
		}
		return s.prefer(all)
	}, s.chooser}
}

// ZoneSuffices reports whether the instances of a zone can do its work without the
// others, as ZoneFirst has it: some can be picked, and no less than half of all.
// It is for those who choose without a Picker.
func ZoneSuffices(usable, all int) bool { return usable > 0 && 2*usable >= all }
