//go:build unix && !linux

package child

import "os"

// adoptOrphans is for Linux: elsewhere orphans go to the first process.
func adoptOrphans() {}

// dieWithParent is for Linux: elsewhere there is the guard alone.
func dieWithParent() {}

func executable() (string, error) { return os.Executable() }
