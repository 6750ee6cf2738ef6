package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// gpl is the notice that programs under the GPL have, and a part of them have
// nothing else.
const gpl = `This program is free software: you can redistribute it and/or modify
it under the terms of the GNU General Public License as published by
the Free Software Foundation, either version 3 of the License, or
(at your option) any later version.

This program is distributed in the hope that it will be useful,
but WITHOUT ANY WARRANTY; without even the implied warranty of
MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the
GNU General Public License for more details.

You should have received a copy of the GNU General Public License
along with this program.  If not, see <https://www.gnu.org/licenses/>.
`

const mit = `Copyright (c) 2026 Somebody

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`

func TestJudge(t *testing.T) {
	names, err := judge([]byte(mit))
	require.NoError(t, err)
	require.Equal(t, []string{"MIT"}, names)

	_, err = judge([]byte(gpl))
	require.ErrorContains(t, err, "GPL-3.0-or-later is not one of")
	_, err = judge([]byte(mit + gpl))
	require.ErrorContains(t, err, "GPL-3.0-or-later is not one of")
	_, err = judge([]byte("Everybody may read this, and nobody may sell it."))
	require.ErrorContains(t, err, "only 0 %")
	_, err = judge(nil)
	require.ErrorContains(t, err, "only 0 %")
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

// A text that people have read is what they say, until it changes.
func TestTextThatPeopleHaveRead(t *testing.T) {
	text := []byte("Take it, and name us.")
	readByPeople[hashOf(text)] = []string{"MIT"}
	t.Cleanup(func() { delete(readByPeople, hashOf(text)) })
	names, err := judge(text)
	require.NoError(t, err)
	require.Equal(t, []string{"MIT"}, names)
	_, err = judge(append(text, " Pay us."...))
	require.ErrorContains(t, err, "only 0 %")
}

// What counts is the license of the root, and those on the way to a package
// that is imported.
func TestFilesOfAModule(t *testing.T) {
	root := place(t, map[string]string{
		"LICENSE": mit, "license.go": gpl, "a/b/b.go": "", "a/COPYING.txt": gpl, "c/c.go": "", "d/COPYING": gpl, "none/n.go": "",
	})
	of := func(folder, root string) ([]string, error) {
		modules, err := parse("x.org/m|v1.0.0|" + root + "|" + filepath.Join(root, folder) + "\n")
		require.NoError(t, err)
		require.Len(t, modules, 1)
		return modules[0].licenses()
	}
	names, err := of("c", root)
	require.NoError(t, err)
	require.Equal(t, []string{"MIT"}, names)
	_, err = of("a/b", root)
	require.ErrorContains(t, err, filepath.Join("a", "COPYING.txt")+": GPL-3.0-or-later")
	_, err = of("", filepath.Join(root, "none"))
	require.ErrorContains(t, err, "no license in")
}

func TestLinesThatAreNotUnderstoodAreErrors(t *testing.T) {
	_, err := parse("x.org/m|v1.0.0\n")
	require.ErrorContains(t, err, "go list printed")
}

// The whole check refuses a module that imports another under the GPL, also if
// that is done in a test on one system only.
func TestImportOfAModuleUnderTheGPLIsRefused(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not in PATH, as in .ci/quick")
	}
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOWORK", "off")
	t.Setenv("GOPROXY", "off")
	root := place(t, map[string]string{
		"go.mod":               "module x.org/m\n\ngo 1.25.0\n\nrequire x.org/dep v1.0.0\n\nreplace x.org/dep => ./dep\n",
		"m.go":                 "package m\n",
		"m_windows_test.go":    "package m\n\nimport _ \"x.org/dep/part\"\n",
		"dep/go.mod":           "module x.org/dep\n\ngo 1.25.0\n",
		"dep/LICENSE":          mit,
		"dep/part/part.go":     "package part\n",
		"dep/another/other.go": "package another\n",
	})
	require.NoError(t, run(t.Context(), io.Discard, root))
	require.NoError(t, os.WriteFile(filepath.Join(root, "dep", "LICENSE"), []byte(gpl), 0o600))
	require.ErrorContains(t, run(t.Context(), io.Discard, root), "GPL-3.0-or-later is not one of")
	require.NoError(t, os.Remove(filepath.Join(root, "dep", "LICENSE")))
	require.ErrorContains(t, run(t.Context(), io.Discard, root), "no license")
}

func TestWrongDirectoryIsAnError(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not in PATH, as in .ci/quick")
	}
	t.Setenv("GOWORK", "off")
	root := place(t, map[string]string{"go.mod": "module x.org/m\n\ngo 1.25.0\n", "m.go": "package m\n"})
	require.ErrorContains(t, run(t.Context(), io.Discard, root), "imports no other module")
}
