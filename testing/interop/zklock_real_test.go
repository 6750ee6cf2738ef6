//go:build real

package interop_test

import (
	"os"
)

// zklockDir has the program, for the tests that need it.
var zklockDir string

func deleteZklock() error { return os.RemoveAll(zklockDir) }
