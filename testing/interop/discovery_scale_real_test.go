//go:build real

package interop_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func number(t *testing.T, word string) int {
	t.Helper()
	n, err := strconv.Atoi(word)
	require.NoError(t, err)
	return n
}
