package leaktest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { Main(m) }

func TestFindWaitsForWhoIsAboutToEnd(t *testing.T) {
	end := make(chan struct{})
	go func() { <-end }()
	require.ErrorContains(t, find(0), "leaktest.TestFindWaitsForWhoIsAboutToEnd")
	time.AfterFunc(time.Second, func() { close(end) }) // later than goleak waits by itself
	require.NoError(t, find(time.Minute))
}
