package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// programs are the tests of packages, compiled with all mutants.
type programs struct {
	root, dir string
}

// compile compiles the tests of mutants that were added to the tree. Because each
// program runs only a few short tests, it is compiled without optimisation, and linked
// without a symbol table. The compiler's errors name a mutant and a line of its
// function.
func (p programs) compile(mutants []*mutant) error {
	args := []string{
		"test", "-c", "-vet=off", "-ldflags=-s -w", "-gcflags=./...=-N -l -e -dwarf=false",
		"-overlay", filepath.Join(p.dir, "overlay.json"), "-o", filepath.Join(p.dir, "programs") + "/",
	}
	var packages []string
	for _, m := range mutants {
		packages = append(packages, "./"+m.testFolder)
	}
	slices.Sort(packages)
	cmd := exec.Command("go", append(args, slices.Compact(packages)...)...)
	cmd.Dir = p.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go test -c: %w\n%s", err, out)
	}
	return nil
}

// timedOut is the output of a test that hangs.
const timedOut = "panic: test timed out"

// run runs a test with or without a mutant. It returns whether the test passes, and the
// output. A test that hangs has noticed nothing, so it counts as passed.
func (p programs) run(ctx context.Context, mutant, folder, pattern string, flags ...string) (
	passes bool, log string, err error,
) {
	program := filepath.Join(p.dir, "programs", filepath.Base(folder)+".test")
	args := append([]string{"-test.failfast", "-test.timeout=2m", "-test.run", pattern}, flags...)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = filepath.Join(p.root, folder)
	// The test has its default size, and cannot find a real server to start.
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

// check runs the tests of mutants without any mutant. All tests of one package run in
// one program.
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

// each calls a function for each item, for atATime items at once, and joins the errors.
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
