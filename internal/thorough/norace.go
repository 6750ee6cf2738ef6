//go:build !race

package thorough

const raceDetector = false
