package order

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

const guid = "_c_3e5a60df-061d-4981-a166-73c06f3f53fc-"

// sorted returns the names of the contenders in the order of admission.
func sorted(children []string, kinds ...string) []string {
	var names []string
	for _, c := range slices.SortedFunc(InListing(children, kinds...).Each, Compare) {
		names = append(names, c.Node)
	}
	return names
}

func TestQueueIsOrderedByNumber(t *testing.T) {
	for name, tc := range map[string]struct{ children, want []string }{
		"none": {nil, nil},
		"by number, not by text or prefix": {
			[]string{guid + "lock-0000000011", "lock-0000000002", "_c_zzz-lock-0000000010"},
			[]string{"lock-0000000002", "_c_zzz-lock-0000000010", guid + "lock-0000000011"},
		},
		"foreign children do not count (CURATOR-43)": {
			[]string{"-foreign", "0", "zzz", "lock-", "lock-12", "lock-00000000x1", "lock-+000000001", "lock-99999999999",
				guid + "lease-0000000000", "deadlock-0000000000", "lock-0000000009-lock-0000000001", "lock-00000000000001",
				"lock--000000000", "lock-2147483648", "lock--2147483649", "lock--0000000001", "lock--", "lock--00000001",
				"_c_3e5a60df-061d-4981-a166-73c06f3f53fclock-0000000000", "_c_lock-0000000001",
				guid + "lock-0000000003"},
			[]string{guid + "lock-0000000003"},
		},
		"go-zookeeper's own lock is protected, too": {
			[]string{"_c_3e5a60df061d4981a16673c06f3f53fc-lock-0000000001", "lock-0000000000"},
			[]string{"lock-0000000000", "_c_3e5a60df061d4981a16673c06f3f53fc-lock-0000000001"},
		},
		"numbers that no server has counted come last": {
			[]string{"lock--2147483647", "lock-2147483646", "lock--000000001", "lock-2147483647", "lock-0000000000"},
			[]string{"lock-0000000000", "lock-2147483646", "lock--000000001", "lock--2147483647", "lock-2147483647"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, sorted(tc.children, "lock-"))
		})
	}
}

func TestQueueOfTwoKindsIsTheSameForEverybody(t *testing.T) {
	children := []string{
		guid + "__WRIT__0000000004", guid + "__READ__0000000004", // a downgraded reader has its writer's number
		guid + "__READ__0000000003", guid + "__WRIT__0000000007",
	}
	want := []string{
		guid + "__READ__0000000003", guid + "__READ__0000000004", guid + "__WRIT__0000000004", guid + "__WRIT__0000000007",
	}
	for range 20 {
		rand.Shuffle(len(children), func(i, j int) { children[i], children[j] = children[j], children[i] })
		require.Equal(t, want, sorted(children, "__READ__", "__WRIT__"))
	}
}

// The transaction that made a node gives its place where numbers give none.
func TestOverflowedContendersAreOrderedByCreation(t *testing.T) {
	queue := []Entry{
		{Node: "a", Seq: math.MaxInt32, Czxid: 30},
		{Node: "b", Seq: math.MaxInt32, Czxid: 20},
		{Node: "c", Seq: math.MinInt32, Czxid: 25},
		{Node: "d", Seq: math.MaxInt32 - 1, Czxid: 99},
	}
	slices.SortFunc(queue, Compare)
	var nodes []string
	for _, c := range queue {
		nodes = append(nodes, c.Node)
	}
	require.Equal(t, []string{"d", "b", "c", "a"}, nodes)
}

// anyEntries returns contenders as servers and attackers make them: with
// every kind of number, some of them equal.
func anyEntries(r *rand.Rand, n int) []Entry {
	seqs := []int32{0, 1, 2, 1500000000, -1500000000, math.MaxInt32 - 1, math.MaxInt32, math.MinInt32, -1}
	all := make([]Entry, n)
	for i := range all {
		seq := seqs[r.IntN(len(seqs))]
		if r.IntN(2) == 0 {
			seq = int32(r.Uint32())
		}
		all[i] = Entry{
			Node:  fmt.Sprintf("%d-lock-%010d", r.IntN(3), seq),
			Kind:  "lock-",
			Seq:   seq,
			Czxid: int64(r.IntN(4)),
		}
	}
	return all
}

// Promise: The order of two contenders depends on nothing else.
func TestOrderIsTotal(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		c := anyEntries(r, 3)
		require.Equal(t, Compare(c[0], c[1]), -Compare(c[1], c[0]), "%v", c)
		if Compare(c[0], c[1]) <= 0 && Compare(c[1], c[2]) <= 0 {
			require.LessOrEqual(t, Compare(c[0], c[2]), 0, "%v", c)
		}
		require.Equal(t, Compare(c[0], c[1]) == 0, c[0] == c[1] || sameButUnusedCzxid(c[0], c[1]), "%v", c)
	}
}

func sameButUnusedCzxid(a, b Entry) bool {
	a.Czxid, b.Czxid = 0, 0
	return a == b && !a.Overflowed()
}

// The node that a contender waits for does not depend on the order of the
// listing. It does not depend on nodes that another client adds either, as long
// as those ahead of the contender stay.
func TestStandingDependsNeitherOnTheListingNorOnForgedNodes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5_000 {
		honest := Entry{Node: guid + "lock-0000000007", Kind: "lock-", Seq: 7}
		ours := Entry{Node: guid + "lock-0000000009", Kind: "lock-", Seq: 9}
		all := append(anyEntries(r, r.IntN(12)), honest, ours)
		want := StandingOf(ours, InQueue(all), Exclusive)
		require.NotEmpty(t, want.Blocker, "never admitted beside the holder")
		for range 5 {
			r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			require.Equal(t, want, StandingOf(ours, InQueue(all), Exclusive))
		}
	}
}

func TestStandingIsThePlaceInTheSortedQueue(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2_000 {
		byNode := map[string]Entry{}
		for _, c := range anyEntries(r, 1+r.IntN(12)) {
			byNode[c.Node] = c
		}
		queue := slices.SortedFunc(maps.Values(byNode), Compare)
		for i, c := range queue {
			want := Standing{Ahead: i, Length: len(queue), First: queue[0].Node}
			if i > 0 {
				want.Blocker = queue[i-1].Node
			}
			require.Equal(t, want, StandingOf(c, InQueue(slices.Collect(maps.Values(byNode))), Exclusive))
		}
	}
}

func TestHoldersAreThoseWhomNobodyBlocks(t *testing.T) {
	queue := []Entry{{Node: "a"}, {Node: "b"}, {Node: "c"}}
	require.Equal(t, []bool{true, false, false}, Holders(queue, Exclusive))
	require.Equal(t, []bool{true, true, true}, Holders(queue, func(string, string) bool { return false }))
	require.Empty(t, Holders(nil, Exclusive))
}

// A queue of thousands is looked at thousands of times. So the look allocates
// nothing.
func TestLookingAtAQueueAllocatesNothing(t *testing.T) {
	children := manyChildren(1000)
	ours, _ := Parse(children[500], []string{"lock-"})
	var got Standing
	allocs := testing.AllocsPerRun(20, func() {
		got = StandingOf(ours, InListing(children, "lock-"), Exclusive)
	})
	require.Equal(t, 500, got.Ahead)
	require.Zero(t, allocs)
}

func manyChildren(n int) []string {
	children := make([]string, n)
	for i := range children {
		children[i] = guid + fmt.Sprintf("lock-%010d", i)
	}
	return children
}

func BenchmarkStanding(b *testing.B) {
	children := manyChildren(5000)
	rand.Shuffle(len(children), func(i, j int) { children[i], children[j] = children[j], children[i] })
	ours, _ := Parse(children[0], []string{"lock-"})
	b.ReportAllocs()
	for b.Loop() {
		StandingOf(ours, InListing(children, "lock-"), Exclusive)
	}
}

// A number is read exactly if String.format("%010d") would have written it so.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"lock-0000000001", guid + "lock--2147483648", "lock-", "lock-lock-0000000001", "-foreign",
		"lock--000000000", "lock-00000000001", "lock--0000000001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, child string) {
		c, ok := Parse(child, []string{"lock-"})
		if ok {
			require.Equal(t, child, c.Node)
			require.Equal(t, fmt.Sprintf("lock-%010d", c.Seq), child[len(child)-len(fmt.Sprintf("lock-%010d", c.Seq)):])
		}
		if n, err := strconv.ParseInt(child, 10, 32); err == nil {
			_, ok := Parse("lock-"+child, []string{"lock-"})
			require.Equal(t, child == fmt.Sprintf("%010d", n), ok, child)
		}
	})
}

// The name of the recipe counts only right ahead of the number, and the last one
// does if there are several.
func TestTheNameIsRightAheadOfTheNumber(t *testing.T) {
	for name, want := range map[string]bool{
		"lock-0000000001":                    true,
		"lock--2147483648":                   true,
		"lock--000000001":                    true,
		guid + "lock-2147483647":             true,
		"_c_lock-lock-0000000001":            true,
		"_c_lock-0000000001-lock-0000000002": true,
		"lock-lock-0000000001":               false,
		"lock-0000000001lock-":               false,
		"lock-0000000001-":                   false,
		"lock-00000000001":                   false,
		"lock-1":                             false,
		"0000000001":                         false,
		"":                                   false,
	} {
		require.Equal(t, want, IsNode(name, "lock-"), name)
	}
}
