// Licenses prints the licenses of all modules from which the packages of this
// repository import something, on Linux, macOS and Windows and in tests. It
// fails if one of them asks for more than a notice, as the GPL does, or cannot
// be recognized. It reads the module cache and needs no network.
//
//	go run ./internal/licenses
//
// The files are recognized by github.com/google/licensecheck, the package that
// pkg.go.dev uses.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if err := run(context.Background(), os.Stdout, "."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run checks the modules that the packages of the module in dir import, and of the
// others in its workspace.
func run(ctx context.Context, out io.Writer, dir string) error {
	modules, err := modulesOf(ctx, dir)
	if err != nil {
		return err
	}
	if len(modules) == 0 {
		return fmt.Errorf("%s imports no other module: is it the right directory?", dir)
	}
	var problems []error
	for _, m := range modules {
		names, err := m.licenses()
		if err != nil {
			problems = append(problems, fmt.Errorf("%s %s: %w", m.path, m.version, err))
			continue
		}
		fmt.Fprintln(out, m.path, m.version, strings.Join(names, ", "))
	}
	return errors.Join(problems...)
}
