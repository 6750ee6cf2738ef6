// Command mutants lets one program break many rules of the library, one at a
// time. It reads patches, each of which breaks one rule, and writes copies of
// the files that they change, for the flag -overlay of the go command:
//
//	mutants DIR PATCH...
//	go test -c -overlay DIR/overlay.json ...
//
// A program that is made of the copies obeys all rules. With the environment
// variable CURATOR_MUTANT=NAME, it behaves as after NAME.patch. So all patches
// cost one compilation, and not one each.
//
// A patch may change only the bodies of functions.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: mutants DIR PATCH...")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(dir string, patches []string) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	m := newModule(root)
	for _, patch := range patches {
		if err := m.add(patch); err != nil {
			return fmt.Errorf("%s: %w", patch, err)
		}
	}
	return m.write(dir)
}

// module is a module, with the mutants of its functions.
type module struct {
	root    string
	files   map[string]*file    // the files that patches change; the keys are paths below root
	mutants map[string][]string // the names of the mutants in each folder
}

func newModule(root string) *module {
	return &module{root: root, files: map[string]*file{}, mutants: map[string][]string{}}
}

// add adds what a patch makes of the files that it changes.
func (m *module) add(patch string) error {
	patched, err := apply(m.root, patch)
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(patch), ".patch")
	folders := map[string]bool{}
	for path, text := range patched {
		if m.files[path] == nil {
			original, err := os.ReadFile(filepath.Join(m.root, path))
			if err != nil {
				return err
			}
			if m.files[path], err = parse(original); err != nil {
				return err
			}
		}
		if err := m.files[path].mutate(name, text); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		folders[filepath.Dir(path)] = true
	}
	for folder := range folders {
		m.mutants[folder] = append(m.mutants[folder], name)
	}
	return nil
}

// apply returns the files that a patch changes, as they are after it, by their
// paths below root.
func apply(root, patch string) (map[string][]byte, error) {
	patch, err := filepath.Abs(patch)
	if err != nil {
		return nil, err
	}
	list, err := git(root, "apply", "--numstat", "-z", patch)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var paths []string
	for line := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		path := line[strings.LastIndexByte(line, '\t')+1:] // two numbers come first
		paths = append(paths, path)
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return nil, err
		}
		if err := writeFile(filepath.Join(dir, path), text); err != nil {
			return nil, err
		}
	}
	if _, err := git(dir, "apply", patch); err != nil {
		return nil, err
	}
	patched := map[string][]byte{}
	for _, path := range paths {
		if patched[path], err = os.ReadFile(filepath.Join(dir, path)); err != nil {
			return nil, err
		}
	}
	return patched, nil
}

func git(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, &stderr)
	}
	return out, nil
}

// write writes the copies and the overlay that names them.
func (m *module) write(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	var overlay struct{ Replace map[string]string }
	overlay.Replace = map[string]string{}
	put := func(path string, text []byte) error {
		copied := filepath.Join(dir, path)
		overlay.Replace[filepath.Join(m.root, path)] = copied
		return writeFile(copied, text)
	}
	packages := map[string]string{} // the name of the package in each folder
	for path, f := range m.files {
		packages[filepath.Dir(path)] = f.syntax.Name.Name
		if err := put(path, f.withMutants()); err != nil {
			return err
		}
	}
	for folder, names := range m.mutants {
		if err := put(filepath.Join(folder, "chosen_mutant.go"), choice(packages[folder], names)); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(overlay, "", "\t")
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, "overlay.json"), text)
}

func writeFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
