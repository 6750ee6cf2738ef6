package explore

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// texts are the texts of the items.
func texts(items []*item) (texts []string) {
	for _, i := range items {
		texts = append(texts, i.text)
	}
	return texts
}

// Items that arrive at once are sorted. An item of a lane waits for the earlier items of
// the lane, even if these are put off.
func TestQueueKeepsTheOrderOfALane(t *testing.T) {
	q := queue{wake: make(chan struct{}, 1)}
	a, b := &Actor{name: "a"}, &Actor{name: "b"}
	add := func(of *Actor, text string) *item {
		i := &item{actor: of, text: text, lane: lane{actor: of}}
		q.add(i)
		return i
	}
	add(b, "b1")
	first := add(a, "a1")
	add(a, "a2")
	q.settle()
	require.Equal(t, []string{"a1", "b1"}, texts(q.ready()))
	q.postpone(first)
	require.Equal(t, []string{"b1", "a1"}, texts(q.ready()))
	q.take(first)
	require.Equal(t, []string{"a2", "b1"}, texts(q.ready()))
	add(a, "a3")
	q.settle()
	require.Equal(t, []string{"a2", "b1"}, texts(q.ready()))
}
