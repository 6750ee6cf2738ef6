package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// The lock is lost while the command is being started. The start has the grace to
// end by itself, and the command has what is left of it.
func TestALossLeavesAStartItsGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lease, lose := context.WithCancel(t.Context())
		g := graceAfter(lease, 3*time.Second)
		time.Sleep(time.Hour)
		require.Equal(t, 3*time.Second, g.left())
		lost := time.Now()
		lose()
		time.Sleep(time.Second)
		require.Equal(t, 2*time.Second, g.left())
		<-g.over
		require.Equal(t, 3*time.Second, time.Since(lost))
		require.Zero(t, g.left())
	})
}
