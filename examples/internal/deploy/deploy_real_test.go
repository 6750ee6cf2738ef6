//go:build real

package deploy

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// run runs a command in a folder, and returns what it prints.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// Prometheus takes the alert rules, and they fire when they should.
func TestAlertRules(t *testing.T) {
	run(t, folder, "promtool", "check", "rules", "--lint-fatal", "alerts.yml")
	run(t, folder, "promtool", "test", "rules", "alerts_test.yml")
}

// Prometheus can parse all that the dashboard asks for.
func TestExpressionsOfTheDashboard(t *testing.T) {
	type rule struct {
		Record string `yaml:"record"`
		Expr   string `yaml:"expr"`
	}
	type group struct {
		Name  string `yaml:"name"`
		Rules []rule `yaml:"rules"`
	}
	all := group{Name: "dashboard"}
	for _, expr := range expressions(t) {
		all.Rules = append(all.Rules, rule{"x", expr})
	}
	text, err := yaml.Marshal(map[string][]group{"groups": {all}})
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "rules.yml")
	require.NoError(t, os.WriteFile(name, text, 0o600))
	run(t, ".", "promtool", "check", "rules", "--lint=none", name)
}

// The programs that the Dockerfiles build need no library, so that an image from
// scratch can run them.
func TestDockerfilesBuildStaticPrograms(t *testing.T) {
	for _, program := range []string{"zklock", "zkfake"} {
		build := regexp.MustCompile(`(?m)^RUN (.*) -o /` + program + ` (.*)$`).FindStringSubmatch(read(t, program+".Dockerfile"))
		require.NotNil(t, build, program)
		out := filepath.Join(t.TempDir(), program)
		run(t, "../../..", "sh", "-c", build[1]+" -o "+out+" "+build[2])
		file, err := elf.Open(out)
		require.NoError(t, err)
		defer file.Close()
		for _, part := range file.Progs {
			require.NotEqual(t, elf.PT_INTERP, part.Type, program)
		}
	}
}
