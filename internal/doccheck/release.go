package doccheck

import (
	"fmt"
	"regexp"
)

// Modules below contrib require the library in the version that was released last,
// so that whoever gets one of them gets a library that it can use. Before the first
// release, they require a version that does not exist.

var (
	releasedVersion = regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)$`)
	libraryVersion  = regexp.MustCompile(`(?m)^\s*(?:require )?github\.com/gocurator/curator v(\S+)$`)
)

const neverReleased = "0.0.0"

// Required checks that a go.mod file requires the library in the newest version
// that a changelog has as released.
func Required(changelog, goMod string) error {
	newest := neverReleased
	if found := releasedVersion.FindStringSubmatch(changelog); found != nil {
		newest = found[1]
	}
	found := libraryVersion.FindStringSubmatch(goMod)
	switch {
	case found == nil:
		return fmt.Errorf("the library is not required")
	case found[1] != newest:
		return fmt.Errorf("the library is required in version %s, and the newest one is %s: see .ci/release", found[1], newest)
	}
	return nil
}
