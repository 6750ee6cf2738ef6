package leaktest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { Main(m) }

func TestFindWaitsForGoroutinesAboutToEnd(t *testing.T) {
	end := make(chan struct{})
	go func() { <-end }()
	require.ErrorContains(t, find(0), "leaktest.TestFindWaitsForGoroutinesAboutToEnd")
	time.AfterFunc(600*time.Millisecond, func() { close(end) }) // goleak waits for less
	require.NoError(t, find(time.Minute))
}
