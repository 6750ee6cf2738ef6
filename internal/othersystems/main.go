// Command othersystems tells whether the packages of all modules of go.work and
// their tests compile on other systems:
//
//	othersystems darwin windows
//
// It checks types alone, and reads all packages from source. A compiler would
// first have to compile the whole standard library for each system. The
// standard library and other modules are checked without the bodies of their
// functions, which would be most of the work.
package main

import (
	"fmt"
	"os"
)

func main() {
	status := 0
	for _, system := range os.Args[1:] {
		if err := check(system, "work"); err != nil {
			fmt.Fprintf(os.Stderr, "othersystems: %s: %v\n", system, err)
			status = 1
		}
	}
	os.Exit(status)
}

// check checks the packages that match a pattern, their tests, and everything
// that they depend on.
func check(system, pattern string) error {
	packages, err := list(system, pattern)
	if err != nil {
		return err
	}
	return checkTypes(packages)
}
