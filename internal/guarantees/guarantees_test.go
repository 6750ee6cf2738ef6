package guarantees

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

const lockTests = `package locks

import "testing"

// TestExclusion has a comment of several lines.
//
// Promise: At most one client holds a lock.
func TestExclusion(t *testing.T) {}

// Promise: Waiters are admitted in order.
func TestOrder(t *testing.T) {}

func TestOther(t *testing.T) {}

type suite struct{}

func (suite) TestOfAMethod(t *testing.T) {}
`

func TestCheck(t *testing.T) {
	const good, mutant = "- One holder. `locks.TestExclusion`, `locks.TestOrder`\n", "mutant: m\ntest: locks TestOther/sub\n"
	for name, c := range map[string]struct{ document, mutant, want string }{
		"all is well":             {good, mutant, ""},
		"a test that is missing":  {"\n`locks.TestGone`", mutant, "docs/GUARANTEES.md:2: no test TestGone in locks"},
		"a method":                {"`locks.TestOfAMethod`", mutant, "docs/GUARANTEES.md:1: no test TestOfAMethod in locks"},
		"a folder that's missing": {"`nodes.TestOrder`", mutant, "docs/GUARANTEES.md:1: no test TestOrder in nodes"},
		"no promise":              {"`locks.TestOther`", mutant, "docs/GUARANTEES.md:1: TestOther in locks bears no promise"},
		"no test":                 {"One holder.", mutant, "docs/GUARANTEES.md names no test"},
		"a mutant without a test": {good, "test: locks TestGone/a", ".ci/mutants/locks.txt:1: no test TestGone in locks"},
	} {
		tree := fstest.MapFS{
			"docs/GUARANTEES.md":    {Data: []byte(c.document)},
			".ci/mutants/locks.txt": {Data: []byte(c.mutant)},
			"locks/locks_test.go":   {Data: []byte(lockTests)},
		}
		err := Check(tree)
		if c.want == "" {
			require.NoError(t, err, name)
		} else {
			require.EqualError(t, err, c.want, name)
		}
	}
	require.Error(t, Check(fstest.MapFS{}), "no document")
}

func TestThisRepository(t *testing.T) {
	require.NoError(t, Check(os.DirFS("../..")))
}
