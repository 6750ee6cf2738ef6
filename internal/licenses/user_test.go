package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mostLines is how many lines of go.sum the build of a user's program needs. It
// may fall, and not rise without a reason. go mod tidy adds those of tests.
const mostLines = 6

// A program that uses the library has few lines in its go.sum, and none of what
// only the modules below contrib need.
func TestUserOfTheLibraryHasFewLinesInGoSum(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not in PATH, as in .ci/quick")
	}
	repository, err := filepath.Abs("../..")
	require.NoError(t, err)
	root := place(t, map[string]string{
		"go.mod": "module x.org/user\n\ngo 1.25.0\n\nrequire github.com/gocurator/curator v0.0.0\n\n" +
			"replace github.com/gocurator/curator => " + repository + "\n",
		"main.go": "package main\n\nimport (\n\t_ \"github.com/gocurator/curator/framework\"\n" +
			"\t_ \"github.com/gocurator/curator/recipes/discovery\"\n\t_ \"github.com/gocurator/curator/recipes/locks\"\n)\n\nfunc main() {}\n",
	})
	// It loads what a build loads, and compiles nothing.
	load := exec.CommandContext(t.Context(), "go", "list", "-deps", ".")
	load.Dir = root
	load.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off", "GOSUMDB=off")
	out, err := load.CombinedOutput()
	require.NoError(t, err, "%s", out)
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	require.LessOrEqual(t, strings.Count(string(sum), "\n"), mostLines, "%s", sum)
	require.NotContains(t, string(sum), "google.golang.org/grpc")
}
