//go:build race

package thorough

const raceDetector = true
