package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// systems are the operating systems whose packages are looked at: what is
// imported can depend on them.
var systems = []string{"linux", "darwin", "windows"}

// module is a module from which packages are taken.
type module struct {
	path, version string
	root          string              // its directory
	folders       map[string]struct{} // directories of the packages that are taken
}

// listFormat prints one line for each package of another module.
const listFormat = `{{with .Module}}{{if not .Main}}{{.Path}}|{{.Version}}|{{.Dir}}|{{$.Dir}}{{end}}{{end}}`

// modulesOf returns the modules that packages import on any of the systems, tests
// included, sorted by path. The packages are those of the module in dir, and of
// the others in its workspace.
func modulesOf(ctx context.Context, dir string) ([]*module, error) {
	outputs, errs := make([]string, len(systems)), make([]error, len(systems))
	var all sync.WaitGroup
	for i, system := range systems {
		all.Go(func() { outputs[i], errs[i] = list(ctx, dir, system) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return parse(strings.Join(outputs, ""))
}

func list(ctx context.Context, dir, system string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-test", "-f", listFormat, "work")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go list for %s: %w", system, err)
	}
	return string(out), nil
}

// parse reads lines of listFormat.
func parse(lines string) ([]*module, error) {
	modules := map[string]*module{}
	for line := range strings.Lines(lines) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		if len(fields) != 4 {
			return nil, fmt.Errorf("go list printed %q", line)
		}
		m := modules[fields[0]]
		if m == nil {
			m = &module{path: fields[0], version: fields[1], root: fields[2], folders: map[string]struct{}{}}
			modules[m.path] = m
		}
		m.folders[fields[3]] = struct{}{}
	}
	return slices.SortedFunc(maps.Values(modules), func(a, b *module) int {
		return cmp.Compare(a.path, b.path)
	}), nil
}

// licenseFile matches the names of files with a license.
var licenseFile = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying)([-._].*)?$`)

// licenses judges each license file of the module's root, and of the folders
// between that and a package: a part of a module may have a license of its own.
func (m *module) licenses() (names []string, err error) {
	var problems []error
	files, err := m.licenseFiles()
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := judge(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", file, err))
		}
		names = append(names, found...)
	}
	if len(names) == 0 && len(problems) == 0 {
		problems = append(problems, fmt.Errorf("no license in %s", m.root))
	}
	slices.Sort(names)
	return slices.Compact(names), errors.Join(problems...)
}

func (m *module) licenseFiles() ([]string, error) {
	folders := map[string]struct{}{m.root: {}}
	for folder := range m.folders {
		for ; len(folder) > len(m.root); folder = filepath.Dir(folder) {
			folders[folder] = struct{}{}
		}
	}
	var files []string
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if entry.Type().IsRegular() && licenseFile.MatchString(entry.Name()) && !strings.HasSuffix(entry.Name(), ".go") {
				files = append(files, filepath.Join(folder, entry.Name()))
			}
		}
	}
	return files, nil
}
