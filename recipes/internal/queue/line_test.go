package queue

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// modelLine is a line as a slice, to compare with.
type modelLine struct {
	line    line
	waiting []*localWaiter
}

func (m *modelLine) add() {
	w := &localWaiter{}
	m.line.add(w)
	m.waiting = append(m.waiting, w)
}

func (m *modelLine) remove(t testing.TB, i int) {
	w := m.waiting[i]
	require.Equal(t, i, m.line.remove(w))
	require.Equal(t, notInLine, w.at)
	m.waiting = slices.Delete(m.waiting, i, i+1)
}

func (m *modelLine) check(t testing.TB) {
	require.Equal(t, len(m.waiting), m.line.len())
	if len(m.waiting) == 0 {
		require.Nil(t, m.line.first())
		require.Nil(t, m.line.spots, "nothing is kept for those who have left")
		return
	}
	require.Same(t, m.waiting[0], m.line.first())
}

func (m *modelLine) checkEach(t testing.TB) {
	m.check(t)
	for i, w := range m.waiting {
		require.Equal(t, i, m.line.before(w.at))
	}
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

func FuzzLineIsASlice(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 2, 255, 0, 1})
	f.Add(make([]byte, 100))
	f.Fuzz(func(t *testing.T, steps []byte) {
		m := &modelLine{}
		for _, step := range steps {
			if step%2 == 0 || len(m.waiting) == 0 {
				m.add()
			} else {
				m.remove(t, int(step/2)*len(m.waiting)/128)
			}
			m.checkEach(t)
		}
	})
}
