package kazootest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFindKazooDoesNotFallBack(t *testing.T) {
	_, err := find(filepath.Join(t.TempDir(), "python"))
	require.ErrorIs(t, err, errNoKazoo)
	require.ErrorIs(t, err, os.ErrNotExist)
}
