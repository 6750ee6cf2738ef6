package main

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// portable is a module that compiles everywhere.
var portable = map[string]string{
	"go.mod":            "module example.org/m\n\ngo 1.25\n",
	"m.go":              "package m\n\nimport \"unsafe\"\n\nvar word unsafe.Pointer\n\nfunc Double(n int) int { return times(n, 2) }\n",
	"times_windows.go":  "package m\n\nfunc times(a, b int) int { return a * b }\n",
	"times.go":          "//go:build !windows\n\npackage m\n\nfunc times(a, b int) int { return b * a }\n",
	"export_test.go":    "package m\n\nvar Times = times\n",
	"m_test.go":         "package m_test\n\nimport \"example.org/m\"\n\nvar _ = m.Times(m.Double(1), 2)\n",
	"sub/sub.go":        "package sub\n\nimport \"example.org/m\"\n\nvar Four = m.Double(2)\n",
	"sub/sub_test.go":   "package sub\n\nvar _ int = Four\n",
	"testdata/no.go":    "package",
	"sub/in_windows.go": "package sub\n\nvar _ = Four\n",
}

// What is wrong on one system only is an error there, in tests as in the
// package, and in the bodies of functions as outside.
func TestErrorsOfOneSystem(t *testing.T) {
	files := maps.Clone(portable)
	files["a_windows.go"] = "package m\n\nfunc a() { missing() }\n"
	files["a_windows_test.go"] = "package m\n\nvar _ = missing\n"
	files["outside_windows_test.go"] = "package m_test\n\nimport \"example.org/m\"\n\nfunc _() { m.Missing() }\n"
	files["sub/a_windows.go"] = "package sub\n\nimport \"example.org/m\"\n"
	files["sub/b_windows.go"] = "package sub\n\nfunc _() { n := 1 }\n"
	t.Chdir(place(t, files))
	require.NoError(t, check("darwin", "./..."))
	err := check("windows", "./...")
	require.ErrorContains(t, err, "a_windows.go:3:12: undefined: missing")
	require.ErrorContains(t, err, "a_windows_test.go:3:9: undefined: missing")
	require.ErrorContains(t, err, "outside_windows_test.go:5:14: undefined: m.Missing")
	require.ErrorContains(t, err, "sub/a_windows.go:3:8: \"example.org/m\" imported and not used")
	require.ErrorContains(t, err, "sub/b_windows.go:3:12: declared and not used: n")
}

// The go command finds these.
func TestPackagesThatCannotBeListed(t *testing.T) {
	for name, text := range map[string]string{
		"a file that is no Go":      "package m\n\nfunc {\n",
		"an import that is missing": "package m\n\nimport _ \"example.org/m/none\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(portable)
			files["a_windows.go"] = text
			t.Chdir(place(t, files))
			require.ErrorContains(t, check("windows", "."), "a_windows.go:3:")
		})
	}
}

// place writes files, by their paths below a new directory.
func place(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return root
}
