package nodes

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
)

// maxSets returns how many Sets the test makes, beside the data of the
// beginning. It is less than maxEarlier: nothing is forgotten.
func maxSets() int { return thorough.Size(5, 4) }

// Sets with good and bad data come at every possible moment, while one writer
// writes what is wanted, and is refused what is bad. Whatever the order is:
//
//   - In the end, the node has the last data that is good. If there is none, it
//     ends.
//   - A Set with bad data returns the refusal of its own data, if that was tried,
//     and succeeds if later data was written before.
//   - A Set with good data succeeds.
//   - What a Set has returned remains true.
func TestEverySetHasItsOwnOutcomeInEveryOrder(t *testing.T) {
	runs := 0
	for firstIsGood := range 2 {
		s := &setting{
			node: newNode(&framework.Client{}, "/n", nil, newConfig(nil)), good: map[uint64]bool{1: firstIsGood == 1},
			tried: map[uint64]bool{}, outcome: map[uint64]error{},
		}
		s.explore(t, &runs)
	}
	require.Greater(t, runs, thorough.Size(10_000, 500))
	t.Logf("%d orders", runs)
}

// setting is a node at one moment, with its writer.
type setting struct {
	node    *PersistentNode
	good    map[uint64]bool  // by the number of the Set
	tried   map[uint64]bool  // the writer has begun with this data
	outcome map[uint64]error // of the Sets that have returned
	writing payload          // what the writer has begun with; no number if it is idle
	order   string           // for messages: what has happened
}

func (s *setting) clone() *setting {
	n := newNode(s.node.client, s.node.path, nil, s.node.cfg)
	n.sets, n.wish, n.have = s.node.sets, s.node.wish, s.node.have
	n.earlier, n.waiting = slices.Clone(s.node.earlier), maps.Clone(s.node.waiting)
	return &setting{n, maps.Clone(s.good), maps.Clone(s.tried), maps.Clone(s.outcome), s.writing, s.order}
}

// explore does everything that may happen next, one after the other.
func (s *setting) explore(t *testing.T, runs *int) {
	mayWrite := s.writing.set != 0 || s.node.wanted().set != s.node.has()
	if s.node.sets <= uint64(maxSets()) {
		for _, good := range []bool{true, false} {
			next := s.clone()
			next.set(t, good)
			next.explore(t, runs)
		}
	} else if !mayWrite {
		*runs++
		s.checkEnd(t)
	}
	if !mayWrite {
		return
	}
	next := s.clone()
	if ended := next.write(t); ended {
		*runs++
		return
	}
	next.explore(t, runs)
}

func (s *setting) set(t *testing.T, good bool) {
	number, err := s.node.ask(nil)
	require.NoError(t, err)
	s.good[number] = good
	s.order += fmt.Sprintf(" set %d (good: %v)", number, good)
	s.returned(t)
}

// write is a step of the writer: it begins, or has an answer. It reports whether
// that ends the node.
func (s *setting) write(t *testing.T) (ended bool) {
	p := s.writing
	if p.set == 0 {
		s.writing = s.node.wanted()
		s.tried[s.writing.set] = true
		s.order += fmt.Sprintf(" begin %d", s.writing.set)
		return false
	}
	s.writing = payload{}
	s.order += fmt.Sprintf(" answer %d", p.set)
	if s.good[p.set] {
		s.node.wrote(p)
	} else if !s.node.refuse(p, refusal(p.set)) {
		require.NotContains(t, slices.Collect(maps.Values(s.good)), true, s.order)
		return true
	}
	s.returned(t)
	return false
}

// refusal is the server's error for the data of a Set.
type refusal uint64

func (r refusal) Error() string { return fmt.Sprintf("refusal of %d", uint64(r)) }

// returned notes which Sets return now, and with what, as Set does. A Set that
// has returned would still return the same.
func (s *setting) returned(t *testing.T) {
	for number := range s.node.waiting {
		err := s.node.waiting[number]
		if err == nil && s.node.have.set < number {
			require.NotContains(t, s.outcome, number, "%s: Set %d waits again", s.order, number)
			continue
		}
		if before, has := s.outcome[number]; has {
			require.Equal(t, before, err, "%s: Set %d", s.order, number)
		}
		s.outcome[number] = err
		if err == nil {
			require.False(t, s.tried[number] && !s.good[number], "%s: Set %d succeeds", s.order, number)
			continue
		}
		var why refusal
		require.True(t, errors.As(err, &why) && uint64(why) == number, "%s: Set %d: %v", s.order, number, err)
	}
}

// checkEnd checks a node whose writer has nothing to do.
func (s *setting) checkEnd(t *testing.T) {
	last := uint64(0)
	for number, good := range s.good {
		if good {
			last = max(last, number)
		}
	}
	require.Equal(t, last, s.node.have.set, s.order)
	require.Len(t, s.outcome, maxSets(), "%s: every Set has returned", s.order)
}
