package doccheck

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// These are how many names each package may export, and all of them together.
// More names are more to read for everybody, so they only come on purpose: raise
// a number together with a line in CHANGELOG.md. Lower it after a cut.
const mostOfAll = 1190

var mostExported = map[string]int{
	"contrib/asynq":               1,
	"contrib/casbin":              10,
	"contrib/certmagic":           14,
	"contrib/gocron":              9,
	"contrib/grpcresolver":        13,
	"contrib/hertz":               10,
	"contrib/kratos":              10,
	"contrib/migrate/gooselock":   7,
	"contrib/migrate/migratelock": 4,
	"debug/curatorz":              1,
	"debug/snapshot":              30,
	"framework":                   190,
	"framework/clienttrace":       11,
	"recipes/atomic":              29,
	"recipes/barriers":            37,
	"recipes/cache":               43,
	"recipes/codec":               7,
	"recipes/discovery":           106,
	"recipes/discovery/httpsd":    3,
	"recipes/fence":               5,
	"recipes/inspect":             45,
	"recipes/leader":              38,
	"recipes/locks":               86,
	"recipes/locktrace":           32,
	"recipes/nodes":               62,
	"recipes/shared":              25,
	"retry":                       10,
	"state":                       13,
	"testing/curatortest":         6,
	"testing/explore":             42,
	"testing/zkserver":            56,
	"testing/zktest":              224,
	"tracing":                     11,
}

func TestPackagesExportNoMoreThanTheyMay(t *testing.T) {
	exported := code(t).Exported()
	t.Log("\n" + tableOf(exported, mostExported))
	require.NoError(t, Budget(exported, mostExported, mostOfAll))
}

// tableOf shows the packages, those with the most names first.
func tableOf(exported map[string][]string, most map[string]int) string {
	folders := slices.SortedFunc(maps.Keys(exported), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(exported[b]), len(exported[a])), cmp.Compare(a, b))
	})
	var b strings.Builder
	sum := 0
	for _, folder := range folders {
		sum += len(exported[folder])
		fmt.Fprintf(&b, "%5d of %3d  %s\n", len(exported[folder]), most[folder], folder)
	}
	fmt.Fprintf(&b, "%5d in all\n", sum)
	return b.String()
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

func TestBudget(t *testing.T) {
	exported := map[string][]string{"a": {"New"}, "b": {"New", "Run"}}
	for _, c := range []struct {
		most    map[string]int
		total   int
		problem string
	}{
		{map[string]int{"a": 1, "b": 2}, 3, ""},
		{map[string]int{"a": 2, "b": 2}, 4, ""},
		{map[string]int{"a": 1, "b": 1}, 3, "b exports 2 names, and may export 1"},
		{map[string]int{"a": 1}, 3, "b exports 2 names, and may export 0"},
		{map[string]int{"a": 1, "b": 2}, 2, "all packages export 3 names, and may export 2"},
		{map[string]int{"a": 1, "b": 2, "c": 1}, 3, "c may export names, and exports none"},
		{map[string]int{"a": 0, "b": 2}, 3, "raise the number on purpose"},
	} {
		checkProblem(t, Budget(exported, c.most, c.total), c.problem)
	}
}
