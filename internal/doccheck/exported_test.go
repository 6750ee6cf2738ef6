package doccheck

import (
	"bytes"
	"cmp"
	"go/doc/comment"
	"maps"
	"path"
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

// A newcomer sees two screens of text and the example of the usual case.
func TestPackagesBeginWithAShortCommentAndAnExample(t *testing.T) {
	for folder := range code(t).Exported() {
		var text string
		var names []string
		for _, f := range code(t).files {
			switch {
			case path.Dir(f.name) != folder:
			case f.isTest():
				names = append(names, topLevel(f.File)...)
			default:
				text += f.Doc.Text()
			}
		}
		shown := new(comment.Printer).Text(new(comment.Parser).Parse(text)) // as go doc prints it
		require.LessOrEqual(t, bytes.Count(shown, []byte("\n")), 80, "move text of package %s to its types", folder)
		require.Contains(t, names, "Example", "package %s", folder)
	}
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
