package main

import (
	"go/build"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// repository is the tree that holds this package.
const repository = "../.."

func imports(t *testing.T) map[string][]string {
	t.Helper()
	all, err := importsOf(os.DirFS(repository))
	require.NoError(t, err)
	return all
}

func TestPictureIsUpToDate(t *testing.T) {
	want, err := pictureOf(os.DirFS(repository))
	require.NoError(t, err)
	got, err := os.ReadFile(path.Join(repository, target))
	require.NoError(t, err)
	require.Equal(t, want, string(got), "draw it again: go run ./internal/floors")
}

var (
	boxTitle   = regexp.MustCompile(`<g><title>(\S+)</title>`)
	arrowTitle = regexp.MustCompile(`<title>(\S+) imports (\S+)</title></path>`)
)

// The picture in the repository is compared with what the go command's own
// package says of the folders.
func TestEveryBoxAndArrowOfThePictureIsReal(t *testing.T) {
	text, err := os.ReadFile(path.Join(repository, target))
	require.NoError(t, err)
	picture := string(text)
	drawn := boxTitle.FindAllStringSubmatch(picture, -1)
	require.Len(t, drawn, len(names()))
	for _, match := range drawn {
		if !isOther(match[1]) {
			listed(t, match[1])
		}
	}
	found := arrowTitle.FindAllStringSubmatch(picture, -1)
	require.NotEmpty(t, found)
	require.Len(t, found, strings.Count(picture, `class="arrow"`))
	for _, match := range found {
		to := match[2]
		if !isOther(to) {
			to = module + "/" + to
		}
		require.Contains(t, listed(t, match[1]).Imports, to, "imports of %s", match[1])
	}
}

func listed(t *testing.T, folder string) *build.Package {
	t.Helper()
	p, err := build.ImportDir(path.Join(repository, folder), 0)
	require.NoError(t, err, "package %s", folder)
	return p
}

// A package must be a box or a helper, or be left out on purpose.
func TestEveryPackageHasItsPlace(t *testing.T) {
	planned := slices.Concat(names(), helpers, leftOut)
	all := imports(t)
	for folder := range all {
		require.True(t, slices.ContainsFunc(planned, func(name string) bool {
			return folder == name || strings.HasSuffix(name, "/") && strings.HasPrefix(folder, name)
		}), "%s is not in plan.go", folder)
	}
	for _, name := range planned {
		if isOther(name) {
			continue
		}
		_, err := fs.Stat(os.DirFS(repository), strings.TrimSuffix(name, "/"))
		require.NoError(t, err)
	}
}

// An import leads to a lower row, or to the right, whether it is drawn or not.
func TestImportsLeadDown(t *testing.T) {
	drawn, rowOf := boxes()
	all := imports(t)
	for _, from := range drawn {
		for _, to := range drawn {
			if !slices.Contains(all[from.name], to.name) {
				continue
			}
			down := rowOf[from.name] < rowOf[to.name]
			right := rowOf[from.name] == rowOf[to.name] && from.right < to.left
			require.True(t, down || right, "%s imports %s", from.name, to.name)
		}
	}
}

func TestNoArrowRunsThroughABox(t *testing.T) {
	places, _, _ := layOut()
	for _, a := range arrows(names(), imports(t)) {
		from, to := places[a.from], places[a.to]
		x, straight := common(from.box, to.box)
		if from.row == to.row || !straight {
			continue
		}
		for _, p := range places {
			between := p.row > from.row && p.row < to.row
			require.False(t, between && p.left <= x && x <= p.right, "%v runs through %s: move a box in plan.go", a, p.name)
		}
	}
}

func TestArrows(t *testing.T) {
	imports := map[string][]string{"a": {"b", "c", "d", "x"}, "b": {"c"}, "x": {"y"}, "c": {"d"}}
	require.Equal(t, []arrow{{"a", "b"}, {"b", "c"}, {"c", "d"}}, arrows([]string{"a", "b", "c", "d"}, imports))
	require.Equal(t, []arrow{{"a", "d"}}, arrows([]string{"a", "d"}, imports))
	require.Empty(t, arrows([]string{"a", "y"}, imports))
}

func TestBoxesStandApart(t *testing.T) {
	for _, f := range plan {
		for _, row := range f.rows {
			for i, b := range row {
				require.Less(t, b.left, b.right, b.name)
				if i > 0 {
					require.Less(t, row[i-1].right, b.left, "%s and %s", row[i-1].name, b.name)
				}
			}
		}
	}
}
