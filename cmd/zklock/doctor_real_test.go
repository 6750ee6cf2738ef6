//go:build real

package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkserver"
)

// A real server says what it is.
func TestDoctorOfARealServer(t *testing.T) {
	srv := zkserver.Start(t)
	got := runWith(t, "-S", srv.Addr(), "doctor")
	require.Zero(t, got.status, got.err+got.out)
	require.Regexp(t, `(?m)yes +\d+ms +standalone +3\.\d`, got.out)
	require.Contains(t, got.out, "give or take")
}
