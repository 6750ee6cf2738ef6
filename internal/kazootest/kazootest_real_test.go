//go:build real

package kazootest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErrorNamesEachInterpreter(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "python")
	_, err := find([]string{missing, missing + "4"})
	require.ErrorIs(t, err, errNoKazoo)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, missing+"4")
}
