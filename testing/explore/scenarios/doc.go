// Package scenarios searches the recipes of this module with package explore: a
// page for each recipe. Each search plays a hundred schedules by default, always
// the same. CURATOR_EXPLORE=10m go test -run Mutex goes on for longer.
package scenarios
