package doccheck

import (
	"cmp"
	"maps"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// mostExported is how many names all public packages may export together. Every
// name is something that each reader has to learn, so raise the number only on
// purpose, and lower it after a cut.
const mostExported = 875

func TestPackagesExportNoMoreNamesThanTheyMay(t *testing.T) {
	exported := code(t).Exported()
	folders := slices.SortedFunc(maps.Keys(exported), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(exported[b]), len(exported[a])), cmp.Compare(a, b))
	})
	sum := 0
	for _, folder := range folders {
		sum += len(exported[folder])
		t.Logf("%5d  %s", len(exported[folder]), folder)
	}
	t.Logf("%5d  in all", sum)
	require.LessOrEqual(t, sum, mostExported, "unexport what no user's program needs")
}

func TestExported(t *testing.T) {
	tree := fstest.MapFS{
		"a/a.go": {Data: []byte(`package a

const C, d = 1, 2

var V int

type T[K any] struct{ F int }

func (*T[K]) M() {}
func (T[K]) n()  {}

type t struct{}

func (t) Error() string { return "" }

type I interface{ N() }

func New() {}
func old() {}
`)},
		"a/a_test.go":          {Data: []byte("package a\n\nfunc TestNew() {}\n")},
		"a/internal/b/b.go":    {Data: []byte("package b\n\nvar V int\n")},
		"cmd/c/c.go":           {Data: []byte("package main\n\nvar V int\n")},
		"examples/e/e.go":      {Data: []byte("package main\n\nvar V int\n")},
		"testing/z/z.go":       {Data: []byte("package z\n\nfunc Run() {}\n")},
		"testing/z/z_linux.go": {Data: []byte("package z\n\nfunc Stop() {}\n")},
	}
	require.Equal(t, map[string][]string{
		"a":         {"C", "V", "T", "T.M", "I", "New"},
		"testing/z": {"Run", "Stop"},
	}, codeOf(t, tree).Exported())
}
