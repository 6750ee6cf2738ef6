package doccheck

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestContribRequiresTheNewestRelease(t *testing.T) {
	for _, name := range goMods(t)[1:] {
		require.NoError(t, Required(read(t, "CHANGELOG.md"), read(t, name)), name)
	}
}

func TestRequired(t *testing.T) {
	unreleased, released := "# C\n\n## 0.1.0 (unreleased)\n", "# C\n\n## 0.3.0 (unreleased)\n\n## 0.2.0 (2027-01-02)\n\n## 0.1.0 (2026-12-01)\n"
	for _, c := range []struct{ changelog, version, problem string }{
		{unreleased, "v0.0.0", ""},
		{unreleased, "v0.1.0", "the newest one is 0.0.0"},
		{released, "v0.2.0", ""},
		{released, "v0.1.0", "the newest one is 0.2.0"},
		{released, "v0.3.0", "the newest one is 0.2.0"},
		{released, "", "not required"},
	} {
		goMod := "module github.com/gocurator/curator/contrib/a\n\nrequire (\n\tgithub.com/gocurator/curator " + c.version +
			"\n)\n\nreplace github.com/gocurator/curator => ../..\n"
		checkProblem(t, Required(c.changelog, goMod), c.problem)
	}
}

// The script of a release, in a clone: each module is tagged, on a commit in which
// those below contrib require the new version.
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
	for _, name := range goMods(t)[1:] {
		require.NoError(t, Required(changelog, readFrom(t, after, name)), name)
		tags = append(tags, strings.TrimSuffix(name, "go.mod")+version)
	}
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
