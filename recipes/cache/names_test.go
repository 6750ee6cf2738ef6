package cache_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

func TestPathOfWhatCannotBeDecodedIsMadeSafeToShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		require.NoError(t, srv.Create("/r", nil))
		require.NoError(t, srv.Create("/r/\u202egpj.exe", nil))
		c := open(t, connect(t, srv), "/r")
		noValue := errors.New("no value")
		values, err := cache.NewTyped(c, func(cache.Node) (int, error) { return 0, noValue })
		require.NoError(t, err)
		_, _, err = values.Get("/r/\u202egpj.exe")
		require.EqualError(t, err, `decode "/r/\u202egpj.exe": no value`)
		require.ErrorIs(t, err, noValue)
	})
}
