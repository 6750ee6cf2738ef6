package lockloop

import "slices"

// Sort puts entries of one parent in the order of admission. It reports false,
// and changes nothing, if the order depends on a czxid that is missing.
func Sort(queue []Entry) bool {
	for _, e := range queue {
		if e.overflowed() && e.Czxid == 0 {
			return false
		}
	}
	slices.SortFunc(queue, compare)
	return true
}

// Compare is the order of admission of two entries of one parent that have
// their czxids.
func Compare(a, b Entry) int { return compare(a, b) }
