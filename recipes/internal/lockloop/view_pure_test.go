package lockloop

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A view tells each contender what a look of its own would tell.
func TestViewIsALookOfItsOwn(t *testing.T) {
	const ours, others = "r-", "w-"
	kinds := []string{ours, others}
	blocks := func(_, ahead string) bool { return ahead == others }
	for range 300 {
		names := []string{"foreign", ours}
		for range rand.IntN(20) {
			seq := rand.IntN(30) - 3 // some were made when there were no numbers left
			names = append(names, fmt.Sprintf("_c_%d-%s%010d", rand.IntN(100), kinds[rand.IntN(2)], seq))
		}
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		slices.Sort(names)
		names = slices.Compact(names)
		v := viewOf(names, time.Time{}, kinds, ours, blocks)
		for e := range Entries(names, kinds...) {
			if e.Kind != ours || e.overflowed() {
				continue
			}
			got, found := v.standing(e)
			require.True(t, found)
			require.Equal(t, StandingOf(e, InListing(names, kinds...), blocks), got, "%s in %v", e.Node, names)
		}
		_, found := v.standing(Entry{Node: "_c_x-r-0000000003", Kind: ours, Seq: 3})
		require.False(t, found, "a node that was deleted")
	}
}

// A contender looks alone where a view does not tell all.
func TestViewDoesNotSuitEverybody(t *testing.T) {
	one, other, third := "_c_a-r-0000000001", "_c_a-r-0000000002", "_c_b-r-0000000003"
	none, last := "r-0000000004", "_c_c-r--000000001"
	v := viewOf([]string{one, other, third, none, "r-0000000005", last}, time.Time{}, []string{"r-"}, "r-", Exclusive)
	for node, suits := range map[string]bool{one: false, other: false, third: true, none: true, last: false} {
		e, ok := parse(node, []string{"r-"})
		require.True(t, ok)
		require.Equal(t, suits, v.suits(e), node)
	}
}
