package order

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The kinds of the nodes of readers and writers.
const (
	readKind  = "__READ__"
	writeKind = "__WRIT__"
)

// The test gives the children as a server lists them, and the decision for
// each contender. It names a node by r or w and a number.
func TestReadersAndWritersAreAdmittedInOrder(t *testing.T) {
	const granted = "granted"
	kinds := []string{readKind, writeKind}
	node := func(s string) string {
		switch s[0] {
		case 'r':
			return guid + readKind + s[1:]
		case 'w':
			return guid + writeKind + s[1:]
		}
		return s
	}
	for name, tc := range map[string]struct {
		children []string
		want     map[string]string // granted, or the node that the contender watches
	}{
		"a writer alone": {[]string{"w0000000007"}, map[string]string{"w0000000007": granted}},
		"readers, whatever the order of the list": {
			[]string{"r0000000003", "r0000000001", "r0000000002"},
			map[string]string{"r0000000001": granted, "r0000000002": granted, "r0000000003": granted},
		},
		"a writer watches whoever is right ahead, a reader the nearest writer": {
			[]string{"r0000000001", "r0000000002", "w0000000003", "r0000000004", "w0000000005", "r0000000006", "r0000000007", "w0000000008"},
			map[string]string{
				"r0000000001": granted, "r0000000002": granted, "w0000000003": "r0000000002", "r0000000004": "w0000000003",
				"w0000000005": "r0000000004", "r0000000006": "w0000000005", "r0000000007": "w0000000005", "w0000000008": "r0000000007",
			},
		},
		"by number, not as text": {
			[]string{"w0000000010", "r0000000009"},
			map[string]string{"r0000000009": granted, "w0000000010": "r0000000009"},
		},
		"foreign children have no influence, those of other recipes neither": {
			[]string{"-first", "0", "_c_00000000-0000-0000-0000-000000000000-lock-0000000000", "__WRIT__", "__WRIT__12", "x__WRIT__0000000000", "r0000000004", "zzz"},
			map[string]string{"r0000000004": granted},
		},
		"a downgraded reader has its writer's number, and stays when the writer goes (CURATOR-621)": {
			[]string{"w0000000004", "r0000000004", "w0000000005", "r0000000006"},
			map[string]string{
				"r0000000004": granted, "w0000000004": "r0000000004", "w0000000005": "w0000000004", "r0000000006": "w0000000005",
			},
		},
		"several downgraded readers of one writer that has gone": {
			[]string{"r0000000004", "__READ__0000000004", "w0000000005"},
			map[string]string{"r0000000004": granted, "__READ__0000000004": granted, "w0000000005": "r0000000004"},
		},
		"nodes without protection count": {
			[]string{"__WRIT__0000000001", "r0000000002"},
			map[string]string{"__WRIT__0000000001": granted, "r0000000002": "__WRIT__0000000001"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var children []string
			for _, c := range tc.children {
				children = append(children, node(c))
			}
			for range 2 { // in this order, and in the reverse order
				require.Equal(t, len(tc.want), len(slices.Collect(InListing(children, kinds...).Each)))
				for ours := range InListing(children, kinds...).Each {
					want := ""
					for who, watched := range tc.want {
						if node(who) == ours.Node && watched != granted {
							want = node(watched)
						}
					}
					got := StandingOf(ours, InListing(children, kinds...), ReadersAndWriters(writeKind))
					require.Equal(t, want, got.Blocker, ours.Node)
				}
				slices.Reverse(children)
			}
		})
	}
}

// A waiter watches a node ahead of it, and no two writers watch the same node.
// Readers and writers never hold the lock together.
func TestEveryWaiterWatchesAheadOfItself(t *testing.T) {
	for kinds := range 1 << 10 { // every queue of ten contenders
		queue := make([]Entry, 10)
		for i := range queue {
			queue[i] = Entry{Node: string(rune('a' + i)), Kind: readKind, Seq: int32(i)}
			if kinds>>i&1 == 1 {
				queue[i].Kind = writeKind
			}
		}
		holders := Holders(queue, ReadersAndWriters(writeKind))
		watchedByWriters := map[string]bool{}
		readers, writers := 0, 0
		for i, c := range queue {
			blocker := StandingOf(c, InQueue(queue), ReadersAndWriters(writeKind)).Blocker
			require.Equal(t, blocker == "", holders[i])
			switch {
			case blocker == "" && c.Kind == readKind:
				readers++
			case blocker == "":
				writers++
			case c.Kind == writeKind:
				require.False(t, watchedByWriters[blocker])
				watchedByWriters[blocker] = true
				fallthrough
			default:
				require.Less(t, blocker, c.Node)
			}
		}
		require.Positive(t, readers+writers, "somebody holds")
		require.True(t, writers == 0 || writers == 1 && readers == 0)
	}
}
