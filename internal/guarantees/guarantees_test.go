package guarantees

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// files makes a tree of files by their paths.
func files(texts map[string]string) fstest.MapFS {
	tree := fstest.MapFS{}
	for name, text := range texts {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}

const lockTests = `package locks

import "testing"

func TestExclusion(t *testing.T) {}

func BenchmarkAcquire(b *testing.B) {}

func FuzzNames(f *testing.F) {}

func ExampleMutex() {}

func Example() {}

type suite struct{}

func (suite) TestOfAMethod(t *testing.T) {}
`

const stateTests = "package state\n\nimport \"testing\"\n\nfunc TestTransitions(t *testing.T) {}\n"

func TestDocumentWhoseTestsExistIsGood(t *testing.T) {
	for name, document := range map[string]string{
		"its own folder": "- One holder. `TestExclusion`\n",
		"every kind":     "`TestExclusion`, `BenchmarkAcquire`, `FuzzNames`, `ExampleMutex`, `Example`\n",
		"a subtest":      "- One holder. `TestExclusion/seed=1`\n",
		"another folder": "Tests: this folder, ../state\n\n- States. `TestTransitions`, `TestExclusion`\n",
		"a list on two lines": "# Locks\n\nTests: this folder,\n../state\n\n" +
			"- States. `TestTransitions`\n",
		"a list at the end":     "`TestTransitions`\n\nTests: ../state",
		"a list of other words": "- `Client`, `Session` and `State`: `TestExclusion`\n",
		"names of Curator's":    "- Curator's TestLocker and `TestLocker#testBoth`: `TestExclusion`\n",
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, Check(files(map[string]string{
				"locks/GUARANTEES.md":     document,
				"locks/locks_test.go":     lockTests,
				"state/machine_test.go":   stateTests,
				"state/machine.go":        "package state\n",
				"testdata/GUARANTEES.md":  "no test\n",
				".ci/GUARANTEES.md":       "no test\n",
				"locks/vendor/ignored.go": "not Go",
			})))
		})
	}
}

func TestProblemsNameDocumentLineAndTest(t *testing.T) {
	for name, c := range map[string]struct{ document, want string }{
		"a test that does not exist": {
			"# Locks\n\n- One holder. `TestExclusion`, `TestGone`\n",
			"locks/GUARANTEES.md:3: no function TestGone in the tests of locks",
		},
		"a test of another folder": {
			"`TestTransitions`\n",
			"locks/GUARANTEES.md:1: no function TestTransitions in the tests of locks",
		},
		"a test of none of the folders": {
			"Tests: this folder, ../state\n\n`TestGone/case`\n",
			"locks/GUARANTEES.md:3: no function TestGone in the tests of locks, state",
		},
		"a function in no test file": {
			"`TestHelper`\n",
			"locks/GUARANTEES.md:1: no function TestHelper in the tests of locks",
		},
		"a method": {
			"`TestOfAMethod`\n",
			"locks/GUARANTEES.md:1: no function TestOfAMethod in the tests of locks",
		},
		"a sentence among the tests": {
			"- One holder. `TestExclusion`, `Strict`,\n  `healthy:`.\n",
			"locks/GUARANTEES.md:1: `Strict` in a list of tests is none\n" +
				"locks/GUARANTEES.md:2: `healthy:` in a list of tests is none",
		},
		"a sentence before the tests": {
			"- One holder. `Strict`,\n  `TestExclusion`.\n",
			"locks/GUARANTEES.md:1: `Strict` in a list of tests is none",
		},
		"no test": {
			"# Locks\n\n- One holder. TestExclusion\n",
			"locks/GUARANTEES.md names no test",
		},
		"a folder that does not exist": {
			"Tests: this folder, ../gone\n\n`TestExclusion`\n",
			"locks/GUARANTEES.md lists the folder ../gone, which does not exist",
		},
		"a folder outside of the tree": {
			"Tests: ../../elsewhere\n\n`TestExclusion`\n",
			"locks/GUARANTEES.md lists the folder ../../elsewhere, which does not exist",
		},
		"a file instead of a folder": {
			"Tests: locks_test.go\n\n`TestExclusion`\n",
			"locks/GUARANTEES.md lists the folder locks_test.go, which does not exist",
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.EqualError(t, Check(files(map[string]string{
				"locks/GUARANTEES.md":   c.document,
				"locks/locks_test.go":   lockTests,
				"locks/locks.go":        "package locks\n\nfunc TestHelper() {}\n",
				"state/machine_test.go": stateTests,
			})), c.want)
		})
	}
}

func TestEveryProblemOfEveryDocumentIsReported(t *testing.T) {
	require.EqualError(t, Check(files(map[string]string{
		"GUARANTEES.md":       "`TestA`, `TestB`\n",
		"locks/GUARANTEES.md": "nothing\n",
	})), "GUARANTEES.md:1: no function TestA in the tests of .\n"+
		"GUARANTEES.md:1: no function TestB in the tests of .\n"+
		"locks/GUARANTEES.md names no test")
}

func TestTreeWithoutADocumentIsAnError(t *testing.T) {
	require.EqualError(t, Check(files(map[string]string{"locks/locks_test.go": lockTests})),
		"no GUARANTEES.md in the tree")
}

func TestFileThatDoesNotParseIsAnError(t *testing.T) {
	require.ErrorContains(t, Check(files(map[string]string{
		"locks/GUARANTEES.md":   "`TestExclusion`\n",
		"locks/broken_test.go":  "package",
		"locks/healthy_test.go": lockTests,
	})), "locks/broken_test.go:1")
}

func TestDocumentsOfThisRepositoryAreGood(t *testing.T) {
	require.NoError(t, Check(os.DirFS("../..")))
}
