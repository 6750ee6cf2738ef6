package seat

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Locks for tests that make no request.
var (
	reads  = &Lock{cfg: Config{Kind: "read-", Kinds: []string{"read-", "write-"}, Readers: "read-"}}
	writes = &Lock{cfg: Config{Kind: "write-", Kinds: []string{"read-", "write-"}, Readers: "read-"}}
)

// modelLine is a line as a slice, to compare with.
type modelLine struct {
	line    line
	waiting []*waiter
	came    int
}

// next returns a new waiter. Every third one is a reader.
func (m *modelLine) next() *waiter {
	m.came++
	if m.came%3 == 0 {
		return &waiter{of: reads}
	}
	return &waiter{of: writes}
}

func (m *modelLine) add() {
	w := m.next()
	m.line.add(w)
	m.waiting = append(m.waiting, w)
}

func (m *modelLine) addFirst() {
	w := m.next()
	m.line.addFirst(w)
	m.waiting = slices.Insert(m.waiting, 0, w)
}

func (m *modelLine) remove(t testing.TB, i int) {
	w := m.waiting[i]
	require.Equal(t, i, m.line.before(w))
	m.line.remove(w)
	require.Equal(t, -1, m.line.before(w))
	m.line.remove(w) // it is not in the line any more
	m.waiting = slices.Delete(m.waiting, i, i+1)
}

func (m *modelLine) check(t testing.TB) {
	require.Equal(t, len(m.waiting), m.line.len())
	if len(m.waiting) == 0 {
		require.Nil(t, m.line.first())
		require.Nil(t, m.line.waiting, "nothing is kept for those who have left")
		return
	}
	require.Same(t, m.waiting[0], m.line.first())
}

func (m *modelLine) checkEach(t testing.TB) {
	m.check(t)
	alone := 0
	for i, w := range m.waiting {
		require.Equal(t, i, m.line.before(w))
		if !w.isShared() {
			alone++
		}
	}
	require.Equal(t, alone, m.line.alone)
}

func TestLineKnowsHowManyAreAhead(t *testing.T) {
	for name, next := range map[string]func(m *modelLine) int{
		"in order":      func(*modelLine) int { return 0 },
		"last first":    func(m *modelLine) int { return len(m.waiting) - 1 },
		"from within":   func(m *modelLine) int { return len(m.waiting) / 2 },
		"in any order":  func(m *modelLine) int { return rand.IntN(len(m.waiting)) },
		"nearly a list": func(m *modelLine) int { return rand.IntN(min(len(m.waiting), 3)) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 2, 15, 16, 17, 31, 32, 33, 500} {
				m := &modelLine{}
				for range n {
					m.add()
					m.check(t)
				}
				m.checkEach(t)
				for range 3 * n { // as many waiters leave as come
					m.remove(t, next(m))
					m.add()
				}
				m.checkEach(t)
				for range n {
					m.remove(t, next(m))
					m.check(t)
				}
			}
		})
	}
}

// A waiter that comes back is in front of all others, also if that makes the line
// longer than it has ever been.
func TestWaiterThatComesBackIsTheFirst(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 17, 32, 100} {
		m := &modelLine{}
		for range n {
			m.add()
		}
		for range 40 {
			m.addFirst()
			m.checkEach(t)
			m.add()
			m.checkEach(t)
			m.remove(t, len(m.waiting)/2)
			m.remove(t, 0)
			m.checkEach(t)
			m.addFirst()
		}
		m.checkEach(t)
	}
}

// Thousands leave at once, in the worst order.
func BenchmarkThousandsLeave(b *testing.B) {
	for b.Loop() {
		m := &modelLine{}
		for range 10_000 {
			m.add()
		}
		for i := range m.waiting {
			m.line.remove(m.waiting[len(m.waiting)-1-i])
		}
	}
}

func FuzzLineIsASlice(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 2, 255, 0, 1})
	f.Add([]byte{3, 3, 0, 2, 3, 255, 3, 1})
	f.Add(make([]byte, 100))
	f.Fuzz(func(t *testing.T, steps []byte) {
		m := &modelLine{}
		for _, step := range steps {
			switch {
			case step%4 == 3:
				m.addFirst()
			case step%2 == 0 || len(m.waiting) == 0:
				m.add()
			default:
				m.remove(t, int(step/2)*len(m.waiting)/128)
			}
			m.checkEach(t)
		}
	})
}
