//go:build real

package doccheck

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The release script runs in a clone. It tags each module on one commit, in which
// every other module requires the library in the new version.
func TestReleaseScript(t *testing.T) {
	unreleased := regexp.MustCompile(`(?m)^## (\S+) \(unreleased\)$`).FindStringSubmatch(read(t, "CHANGELOG.md"))
	if unreleased == nil {
		t.Skip("nothing is unreleased")
	}
	version := "v" + unreleased[1]
	clone := filepath.Join(t.TempDir(), "clone")
	if out, err := exec.Command("git", "clone", "--quiet", "--shared", "../..", clone).CombinedOutput(); err != nil {
		t.Skipf("no clone can be made: %v: %s", err, out)
	}
	run := func(name string, args ...string) (string, error) {
		command := exec.Command(name, args...)
		command.Dir = clone
		command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
		out, err := command.CombinedOutput()
		return string(out), err
	}
	if _, err := run(".ci/release", "v9.9.9"); err == nil {
		t.Error("a version that CHANGELOG does not have")
	}
	out, err := run(".ci/release", version)
	require.NoError(t, err, out)
	after := os.DirFS(clone)
	changelog := readFrom(t, after, "CHANGELOG.md")
	require.NotContains(t, changelog, "unreleased")
	tags := []string{version}
	below, err := fs.Glob(after, "contrib/*/go.mod")
	require.NoError(t, err)
	for _, name := range append(below, "examples/go.mod") {
		require.Contains(t, readFrom(t, after, name), "github.com/gocurator/curator "+version)
		tags = append(tags, strings.TrimSuffix(name, "go.mod")+version)
	}
	require.NotContains(t, readFrom(t, after, "examples/go.mod"), " v0.0.0\n")
	require.Equal(t, []string{
		"git push --atomic origin HEAD " + version, // GitHub starts no workflow for more than three tags
		"git push --atomic origin " + strings.Join(tags[1:], " "),
	}, regexp.MustCompile("(?m)^git push.*$").FindAllString(out, -1))
	for _, tag := range tags {
		at, err := run("git", "describe", "--exact-match", "--match", tag)
		require.NoError(t, err, at)
	}
	left, err := run("git", "status", "--porcelain")
	require.NoError(t, err, left)
	require.Empty(t, left)
}
