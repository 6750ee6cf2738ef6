package scenarios

import "github.com/gocurator/curator/testing/explore"

// quick is how far each search goes by default.
var quick = explore.Limits{Deviations: 2, Schedules: 400}

// names returns the names of that many actors.
func names(n int) (names []string) {
	for i := range n {
		names = append(names, string(rune('A'+i)))
	}
	return names
}
