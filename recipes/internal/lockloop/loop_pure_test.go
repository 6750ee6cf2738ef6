package lockloop

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

const guid = "_c_3e5a60df-061d-4981-a166-73c06f3f53fc-"

func nodes(q []Contender) []string {
	var names []string
	for _, c := range q {
		names = append(names, c.Node)
	}
	return names
}

func TestQueue(t *testing.T) {
	for name, tc := range map[string]struct{ children, want []string }{
		"none": {nil, nil},
		"by number, not by text or prefix": {
			[]string{guid + "lock-0000000011", "lock-0000000002", "_c_zzz-lock-0000000010"},
			[]string{"lock-0000000002", "_c_zzz-lock-0000000010", guid + "lock-0000000011"},
		},
		"foreign children do not count (E25, CURATOR-43)": {
			[]string{"-foreign", "0", "zzz", "lock-", "lock-12", "lock-00000000x1", "lock-+000000001", "lock-99999999999",
				guid + "lease-0000000000", "deadlock-0000000000", "lock-0000000009-lock-0000000001", "lock-00000000000001",
				guid + "lock-0000000003"},
			[]string{guid + "lock-0000000003"},
		},
		"go-zookeeper's own lock is protected, too": {
			[]string{"_c_3e5a60df061d4981a16673c06f3f53fc-lock-0000000001", "lock-0000000000"},
			[]string{"lock-0000000000", "_c_3e5a60df061d4981a16673c06f3f53fc-lock-0000000001"},
		},
		"the sequence wraps at 2^31": {
			[]string{"lock--2147483647", "lock-2147483646", "lock--2147483648", "lock-2147483647"},
			[]string{"lock-2147483646", "lock-2147483647", "lock--2147483648", "lock--2147483647"},
		},
		"negative numbers are padded with their sign": {
			[]string{"lock-0000000000", "lock--000000001", "lock--000000010"},
			[]string{"lock--000000010", "lock--000000001", "lock-0000000000"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, nodes(Queue(tc.children, "lock-")))
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
		require.Equal(t, want, nodes(Queue(children, "__READ__", "__WRIT__")))
	}
}

func TestFirst(t *testing.T) {
	queue := []Contender{{Node: "a"}, {Node: "b"}, {Node: "c"}, {Node: "d"}}
	for _, tc := range []struct {
		n, ours int
		want    Decision
	}{
		{1, 0, Decision{Granted: true}},
		{1, 1, Decision{Watch: "a"}},
		{1, 3, Decision{Watch: "c"}},
		{2, 1, Decision{Granted: true}},
		{2, 2, Decision{Watch: "a"}},
		{2, 3, Decision{Watch: "b"}},
		{9, 3, Decision{Granted: true}},
		{0, 0, Decision{Watch: "a"}},
		{-1, 3, Decision{Watch: "d"}},
	} {
		require.Equal(t, tc.want, First(tc.n)(queue, tc.ours), "%d of the first %d", tc.ours, tc.n)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"lock-0000000001", guid + "lock--2147483648", "lock-", "lock-lock-0000000001", "-foreign"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, child string) {
		if c, ok := parse(child, []string{"lock-"}); ok {
			require.Equal(t, child, c.Node)
			require.GreaterOrEqual(t, len(child), len("lock-")+10)
		}
	})
}
