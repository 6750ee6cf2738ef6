package certmagic_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/caddyserver/certmagic"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	certstore "github.com/gocurator/curator/contrib/certmagic"
	"github.com/gocurator/curator/internal/recipetest"
)

// TestSuite asks what the test suite of certmagic storages,
// github.com/oyato/certmagic-storage-tests, asks. That one cannot be had as a
// module any more.
func TestSuite(t *testing.T) {
	recipetest.OnFakeAndReal(t, func(t *testing.T, w *recipetest.World) {
		s, err := certstore.New(w.Observer, recipetest.Path(t), open)
		require.NoError(t, err)
		suite(t, s)
	})
}

func suite(t *testing.T, s certmagic.Storage) {
	ctx := bounded(t)
	require.Error(t, s.Unlock(ctx, "free"), "a lock that nobody holds")
	require.NoError(t, s.Lock(ctx, "free"))
	require.NoError(t, s.Unlock(ctx, "free"))
	require.Error(t, s.Unlock(ctx, "free"), "a lock that was unlocked")

	var all sync.WaitGroup
	for _, key := range []string{"k1", "k2", "k3"} {
		inside := 0
		for range 2 {
			all.Go(func() {
				for range 5 {
					if !assert.NoError(t, s.Lock(ctx, key)) {
						return
					}
					inside++
					runtime.Gosched()
					assert.Equal(t, 1, inside)
					inside--
					assert.NoError(t, s.Unlock(ctx, key))
				}
			})
		}
	}
	all.Wait()

	const key = "__test__key__1"
	require.NoError(t, s.Lock(ctx, key))
	require.False(t, s.Exists(ctx, key))
	_, err := s.Load(ctx, key)
	require.Error(t, err)
	_, err = s.Stat(ctx, key)
	require.Error(t, err)
	require.Error(t, s.Store(ctx, "", []byte{}))
	require.NoError(t, s.Store(ctx, key, nil))
	require.NoError(t, s.Store(ctx, key, []byte{}))
	require.NoError(t, s.Store(ctx, key, []byte(key)))
	require.True(t, s.Exists(ctx, key))
	requireValue(t, s, key, key)
	require.NoError(t, s.Delete(ctx, key))
	require.False(t, s.Exists(ctx, key))
	require.NoError(t, s.Unlock(ctx, key))

	const folder = "__test__key__2"
	for _, recursive := range []bool{false, true} {
		_, err = s.List(ctx, folder+"/k1", recursive)
		require.Error(t, err)
	}
	for _, name := range []string{"/k1", "/k/a/b", "/k/c"} {
		require.NoError(t, s.Store(ctx, folder+name, []byte(folder)))
	}
	info, err := s.Stat(ctx, folder)
	require.NoError(t, err)
	require.Equal(t, folder, info.Key)
	require.False(t, info.IsTerminal)
	info, err = s.Stat(ctx, folder+"/k/a/b")
	require.NoError(t, err)
	require.Equal(t, folder+"/k/a/b", info.Key)
	require.True(t, info.IsTerminal)
	keys, err := s.List(ctx, folder, false)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{folder + "/k", folder + "/k1"}, keys)
	keys, err = s.List(ctx, folder, true)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{folder + "/k", folder + "/k/a", folder + "/k/a/b", folder + "/k/c", folder + "/k1"}, keys)
}
