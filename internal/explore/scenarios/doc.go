// Package scenarios searches the recipes of this module with package explore. A
// recipe whose random test has the same checks has no page here. Each search
// plays a hundred schedules by default, always the same. go test -run Mutex
// -explore 10m goes on for longer.
package scenarios
