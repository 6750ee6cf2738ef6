package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The command has ended, and what it has left behind has its grace, when the
// lock is lost. The margin of that holds one grace, which has begun before.
func TestAGraceIsNotMadeLonger(t *testing.T) {
	w := &watch{grace: time.Hour}
	w.beginGrace()
	begun := w.kill
	w.beginGrace()
	require.Equal(t, begun, w.kill)
}
