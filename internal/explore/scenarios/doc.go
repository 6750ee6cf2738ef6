// Package scenarios searches the recipes of this module with package explore. A
// recipe whose random test has the same checks has no file here. By default, each
// search plays the same hundred schedules. go test -run Mutex -explore 10m searches
// longer.
package scenarios
