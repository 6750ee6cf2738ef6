package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// programs are the tests of packages, compiled with all mutants.
type programs struct {
	root, dir string
}

// compile compiles the tests of mutants that were added to the tree. Each
// program is used for a few short tests. So it is compiled without optimisation,
// and linked without a symbol table. The result has the errors of the compiler
// by the names of the mutants that they are in.
func (p programs) compile(mutants []*mutant) (map[string]string, error) {
	module := exec.Command("go", "list", "-m")
	module.Dir = p.root
	module.Env = append(os.Environ(), "GOWORK=off")
	path, err := module.Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m: %w", err)
	}
	args := []string{
		"test", "-c", "-vet=off", "-ldflags=-s -w",
		"-gcflags=" + strings.TrimSpace(string(path)) + "/...=-N -l -e -dwarf=false",
		"-overlay", filepath.Join(p.dir, "overlay.json"), "-o", filepath.Join(p.dir, "programs") + "/",
	}
	var packages []string
	for _, m := range mutants {
		packages = append(packages, "./"+m.testFolder)
	}
	slices.Sort(packages)
	cmd := exec.Command("go", append(args, slices.Compact(packages)...)...)
	cmd.Dir = p.root
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil, nil
	}
	faults := map[string]string{}
	for _, match := range inMutant.FindAllStringSubmatch(string(out), -1) {
		faults[match[1]] += fmt.Sprintf("\n    line %s of the function: %s", match[2], match[3])
	}
	if len(faults) == 0 {
		return nil, fmt.Errorf("go test -c: %w\n%s", err, out)
	}
	return faults, nil
}

// inMutant finds the errors in the functions of mutants.
var inMutant = regexp.MustCompile(`/mutant/([a-z0-9-]+):(\d+):(?:\d+:)? (.*)`)

// timedOut is what a test prints that hangs.
const timedOut = "panic: test timed out"

// run runs a test as a mutant, or as none. It returns whether the test passes,
// and what it prints. A test that hangs has noticed nothing, so it passes.
func (p programs) run(ctx context.Context, mutant, folder, pattern string, flags ...string) (
	passes bool, log string, err error,
) {
	program := filepath.Join(p.dir, "programs", filepath.Base(folder)+".test")
	args := append([]string{"-test.failfast", "-test.timeout=2m", "-test.run", pattern}, flags...)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = filepath.Join(p.root, folder)
	// The test is as small as by default, and finds no real server that it could start.
	cmd.Env = append(os.Environ(), "CURATOR_MUTANT="+mutant, "CURATOR_SEEDS=", "PATH=/nonexistent", "JAVA_HOME=")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return true, string(out), nil
	case !errors.As(err, &exit):
		return false, "", err
	default:
		return bytes.Contains(out, []byte(timedOut)), string(out), nil
	}
}

// check runs the tests of mutants without any mutant. Those of one package run
// in one program.
func (p programs) check(ctx context.Context, mutants []*mutant, processes int, flags ...string) error {
	tests := map[string][]string{}
	for _, m := range mutants {
		tests[m.testFolder] = append(tests[m.testFolder], m.testFunction())
	}
	var folders []string
	for folder := range tests {
		folders = append(folders, folder)
	}
	return each(folders, processes, func(folder string) error {
		pattern := "^(" + strings.Join(tests[folder], "|") + ")$"
		passes, log, err := p.run(ctx, "", folder, pattern, slices.Concat(flags, []string{"-test.timeout=10m"})...)
		if err == nil && (!passes || strings.Contains(log, timedOut)) {
			err = fmt.Errorf("%s: its tests fail without a mutant\n%s", folder, log)
		}
		return err
	})
}

// each calls a function for each item, for some at a time, and joins the errors.
func each[T any](items []T, atATime int, do func(T) error) error {
	var (
		running sync.WaitGroup
		mu      sync.Mutex
		all     []error
	)
	room := make(chan struct{}, atATime)
	for _, item := range items {
		room <- struct{}{}
		running.Go(func() {
			defer func() { <-room }()
			err := do(item)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, err)
		})
	}
	running.Wait()
	return errors.Join(all...)
}
