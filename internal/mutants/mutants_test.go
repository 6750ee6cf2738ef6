package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// kinds has functions of all kinds. Most print their names.
const kinds = `package main

import (
	"errors"
	"fmt"
)

type list[T any] []T

func (l list[T]) method(_ int, names ...string) (n int, err error) {
	defer func() {
		if err != nil {
			n = len(names)
		}
	}()
	fmt.Println("method", l)
	return 0, nil
}

func (*point) unnamed(int, string) { fmt.Println("unnamed") }

type point struct{}

func generic[K comparable, V any](m map[K]V, _ ...V) map[K]V {
	fmt.Println("generic", len(m))
	return m
}

func plain() { fmt.Println("plain") }

func main() {
	n, err := list[int]{1, 2}.method(1, "a", "b")
	fmt.Println(n, err)
	(&point{}).unnamed(1, "")
	generic(map[int]string{1: "a"}, "x", "y")
	plain()
	plain()
	_ = errors.ErrUnsupported
}
`

// A program with mutants does what a patched one would do.
func TestMutantsBehaveAsPatched(t *testing.T) {
	t.Parallel()
	const unbroken = "method [1 2]\n0 <nil>\nunnamed\ngeneric 1\nplain\nplain\n"
	mutants := []struct{ name, old, new, want string }{
		{"method", `return 0, nil`, `return 0, errors.New("refused")`, strings.Replace(unbroken, "0 <nil>", "2 refused", 1)},
		{"unnamed", `Println("unnamed")`, `Println("broken")`, strings.Replace(unbroken, "unnamed", "broken", 1)},
		{"generic", `Println("generic", len(m))`, `Println("broken", len(m))`, strings.Replace(unbroken, "generic", "broken", 1)},
		{"plain", `fmt.Println("plain")`, `fmt.Println("broken")`, strings.ReplaceAll(unbroken, "plain", "broken")},
		{"once-only", "plain()\n\tplain()\n", "plain()\n", strings.Replace(unbroken, "plain\n", "", 1)},
		{"plain-again", `fmt.Println("plain")`, `fmt.Println("other")`, strings.ReplaceAll(unbroken, "plain", "other")},
	}
	root := t.TempDir()
	put(t, root, "go.mod", "module example.com/kinds\n\ngo 1.25\n")
	put(t, root, "kinds.go", kinds)
	m := newModule(root)
	for _, mutant := range mutants {
		require.NoError(t, m.add(patch(t, mutant.name, strings.Replace(kinds, mutant.old, mutant.new, 1))))
	}
	copies := t.TempDir()
	require.NoError(t, m.write(copies))
	program := filepath.Join(t.TempDir(), "kinds.exe")
	output(t, root, "", "go", "build", "-overlay", filepath.Join(copies, "overlay.json"), "-o", program)
	require.Equal(t, unbroken, output(t, root, "", program))
	for _, mutant := range mutants {
		require.Equal(t, mutant.want, output(t, root, mutant.name, program), mutant.name)
	}
}

func TestPatchChangesBodiesOnly(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put(t, root, "kinds.go", kinds)
	edits := map[string][2]string{
		"a type":       {"type point struct{}", "type point struct{ x int }"},
		"a signature":  {"func plain() {", "func plain(...int) {"},
		"new function": {"func plain() {", "func more() {}\n\nfunc plain() {"},
		"an import":    {`"errors"`, "\"errors\"\n\t\"os\""},
	}
	for name, edit := range edits {
		err := newModule(root).add(patch(t, "m", strings.Replace(kinds, edit[0], edit[1], 1)))
		require.ErrorContains(t, err, "more than the bodies of functions", name)
	}
	// The other way round, nothing is missing.
	noImport := strings.NewReplacer("\t\"errors\"\n", "", "\t_ = errors.ErrUnsupported\n", "").Replace(kinds)
	require.NoError(t, newModule(root).add(patch(t, "m", noImport)))
	require.ErrorContains(t, newModule(t.TempDir()).add(patch(t, "m", noImport)), "kinds.go")
}

// patch returns the path of a patch that makes kinds the other text.
func patch(t *testing.T, name, text string) string {
	t.Helper()
	needs(t, "git")
	dir := t.TempDir()
	put(t, dir, "a/kinds.go", kinds)
	put(t, dir, "b/kinds.go", text)
	diff := exec.Command("git", "diff", "--no-index", "--no-prefix", "a", "b")
	diff.Dir = dir
	out, err := diff.Output()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 1, exit.ExitCode(), "there is a difference")
	put(t, dir, name+".patch", string(out))
	return filepath.Join(dir, name+".patch")
}

// needs skips a test if a program is not in PATH. .ci/quick runs without PATH,
// and .ci/run allows no skipped test.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skip(err)
	}
}

func put(t *testing.T, dir, path, text string) {
	t.Helper()
	require.NoError(t, writeFile(filepath.Join(dir, path), []byte(text)))
}

// output returns what a command prints that runs as a mutant.
func output(t *testing.T, dir, mutant string, command ...string) string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CURATOR_MUTANT="+mutant)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s", &stderr)
	return string(out)
}
