// Package scenarios searches the recipes of this module with package explore, with a
// file for each recipe. By default, each search plays the same hundred schedules. go
// test -run Mutex -explore 10m searches longer.
package scenarios
