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

// leftOut are packages that are in no program of a user, and parts of packages
// that the picture shows as one, and other modules. A name with a slash at its end
// stands for all folders below it.
var leftOut = []string{
	"contrib/", "examples/", "cmd/zklock/internal/", "debug/internal/", "framework/internal/jute", "recipes",
	"internal/recipetest", "internal/locktest", "testing/zktest/internal/", "testing/interop", "testing/explore/scenarios",
	"internal/benchmarks", "internal/benchmarks/peers", "internal/compatibility", "internal/curatorjars", "internal/doccheck", "internal/exampletest", "internal/floors", "internal/guarantees", "internal/histories",
	"internal/kazootest", "internal/leadertest", "internal/leaktest", "internal/licenses", "internal/mutants",
	"internal/othersystems", "internal/thorough",
}

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
	imports := map[string][]string{}
	for _, match := range drawn {
		if folder := match[1]; !isOther(folder) {
			p, err := build.ImportDir(path.Join(repository, folder), 0)
			require.NoError(t, err, "package %s", folder)
			imports[folder] = p.Imports
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
		require.Contains(t, imports[match[1]], to, "imports of %s", match[1])
	}
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
		way := wayOf(a, places)
		for i, end := range way[1:] {
			for _, p := range places {
				through := p.name != a.from && p.name != a.to && crosses(way[i], end, p)
				require.False(t, through, "%v runs through %s: move a box in plan.go", a, p.name)
			}
		}
	}
}

// crosses reports whether a line, which runs down or aside, touches a box.
func crosses(one, other point, p place) bool {
	left, right := min(one.x, other.x), max(one.x, other.x)
	top, bottom := min(one.y, other.y), max(one.y, other.y)
	return left <= p.right && right >= p.left && top <= p.bottom() && bottom >= p.top
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

func TestFreeColumn(t *testing.T) {
	for name, c := range map[string]struct {
		boxes []box
		want  int
	}{
		"nothing in the way":        {nil, 50},
		"a box at the left":         {[]box{{left: 0, right: 40}}, 73},
		"a box in the middle":       {[]box{{left: 30, right: 40}}, 73},
		"the gap between two boxes": {[]box{{left: 0, right: 20}, {left: 60, right: 100}}, 40},
		"two boxes, one over both":  {[]box{{left: 0, right: 80}, {left: 10, right: 20}}, 93},
		"no gap":                    {[]box{{left: 0, right: 50}, {left: 55, right: 100}}, 50},
	} {
		require.Equal(t, c.want, freeColumn(0, 100, c.boxes), name)
	}
}
