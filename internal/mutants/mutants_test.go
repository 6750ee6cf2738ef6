package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const source = `package p

type list[T any] []T

func (l list[T]) first() (t T) {
	if len(l) == 0 {
		return t
	}

	return l[0]
}

func (*list[T]) none() {}

func second(l list[int]) int {
	if len(l) < 2 {
		return 0
	}
	return l[1]
}
`

func parse(t *testing.T, text string) *mutant {
	t.Helper()
	mutants, err := parseMutants("p.txt", "mutant: m\nrule: r\ntest: p TestSecond/a\n"+text)
	require.NoError(t, err)
	require.Len(t, mutants, 1)
	return mutants[0]
}

func put(t *testing.T, dir, path, text string) {
	t.Helper()
	require.NoError(t, writeFile(filepath.Join(dir, path), []byte(text)))
}

func TestMutantThatFits(t *testing.T) {
	root := t.TempDir()
	put(t, root, "p/p.go", source)
	for name, text := range map[string]string{
		"a part of a line":                  "func: second\n-len(l) < 2\n+len(l) < 1",
		"lines that are indented otherwise": "func: second\n-if len(l) < 2 {\n-return 0\n-\t\t}",
		"an empty line":                     "func: list.first\n-}\n-return l[0]\n+}\n+return l[1]",
		"a function of a pointer":           "func: second\n-return 0\n+return 1",
	} {
		f, err := readFolder(root, "p")
		require.NoError(t, err)
		require.Empty(t, f.mutate(parse(t, text)), name)
		require.Contains(t, f.functions, "(*list).none")
		require.Equal(t, "p", f.name)
	}
	require.Equal(t, "^TestSecond$/a", parse(t, "func: second\n-l").pattern())
	require.Equal(t, "TestSecond", parse(t, "func: second\n-l").testFunction())
}

func TestMutantThatDoesNotFit(t *testing.T) {
	root := t.TempDir()
	put(t, root, "p/p.go", source)
	put(t, root, "p/p_test.go", "package p\n\nfunc TestSecond() {}\n")
	for text, want := range map[string]string{
		"func: second\n-len(l) < 3\n+true": "the old text is 0 times in second\n    old text: len(l) < 3",
		"func: second\n-l":                 "the old text is 3 times in second\n    old text: l\n    it is in: list.first (p/p.go)",
		"func: third\n-return 0\n+return 1": "there is no function third in p\n" +
			"    old text: return 0\n    it is in: second (p/p.go)",
		"func: second\n-return 0\n+}}":                       "its function does not parse: 4:2: expected declaration, found '}'",
		"func: second\n-return 0\ntest: p TestThird/subtest": "there is no test TestThird in p",
	} {
		m := parse(t, text)
		tree, err := readTree(root, []*mutant{m})
		require.NoError(t, err)
		require.Equal(t, map[*mutant]string{m: want}, tree.mutate([]*mutant{m}))
	}
}

func TestCatalogueThatCannotBeRead(t *testing.T) {
	for text, want := range map[string]string{
		"rule: r":                   ".ci/mutants/p.txt:1: a mutant begins with its name",
		"# comment\n\nmutant: m\n?": ".ci/mutants/p.txt:4: neither a field nor a line to delete or to add",
		"mutant: m\nrule: r\nfunc: f\n": ".ci/mutants/p.txt:1: m lacks a part, " +
			"or its name has other characters than a-z, 0-9 and -",
	} {
		_, err := parseMutants("p.txt", text)
		require.EqualError(t, err, want)
	}
}

func TestCatalogueOfThisRepository(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	mutants, err := readMutants(root)
	require.NoError(t, err)
	require.LessOrEqual(t, len(mutants), 250, "only those that guard safety are kept: replace one")
	_, err = os.Stat(filepath.Join(root, catalogue))
	require.NoError(t, err)
}
