package cache_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/cache"
)

func TestPathOfADecodeErrorIsMadeSafeToShow(t *testing.T) {
	err := &cache.DecodeError{Path: "/r/\u202egpj.exe", Err: errors.New("no value")}
	require.EqualError(t, err, `decode "/r/\u202egpj.exe": no value`)
}
