package cache_test

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

func TestTypedViewReportsWhatCannotBeDecoded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		client := connect(t, srv)
		require.NoError(t, srv.Create("/r", []byte("0")))
		require.NoError(t, srv.Create("/r/a", []byte("1")))
		require.NoError(t, srv.Create("/r/b", []byte("one")))
		c := open(t, client, "/r")
		numbers, err := cache.NewTyped(c, func(n cache.Node) (int, error) { return strconv.Atoi(string(n.Data)) })
		require.NoError(t, err)
		a, ok, err := numbers.Get("/r/a")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, 1, a.Value)
		_, ok, err = numbers.Get("/r/c")
		require.NoError(t, err)
		require.False(t, ok)
		_, ok, err = numbers.Get("/r/b")
		require.True(t, ok)
		requireDecodeError(t, err)
		sum := 0
		for n, err := range numbers.Children("/r") {
			if err != nil {
				requireDecodeError(t, err)
				continue
			}
			sum += n.Value
		}
		for n := range numbers.All() {
			sum += n.Value
		}
		require.Equal(t, 2, sum)
		var told []string
		for ch, err := range numbers.Changes(t.Context()) {
			told = append(told, fmt.Sprint(ch.Type, ch.Value, err != nil))
			if ch.Type == cache.Synced {
				break
			}
		}
		require.Equal(t, []string{"created 0 false", "created 1 false", "created 0 true", "synced 0 false"}, told)
	})
}

func requireDecodeError(t *testing.T, err error) {
	t.Helper()
	require.True(t, errors.Is(err, strconv.ErrSyntax))
	require.ErrorContains(t, err, "decode /r/b: ")
}

// A reader is told the value of a node before a change, and of one that was
// deleted. Data that could not be decoded had none.
func TestTypedChangesHaveTheOldValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		client := connect(t, srv)
		require.NoError(t, srv.Create("/r", []byte("0")))
		c := open(t, client, "/r")
		numbers, err := cache.NewTyped(c, func(n cache.Node) (int, error) { return strconv.Atoi(string(n.Data)) })
		require.NoError(t, err)
		steps := []func() error{
			func() error { return srv.Create("/r/b", []byte("1")) },
			func() error { return srv.Set("/r/b", []byte("2")) },
			func() error { return srv.Set("/r/b", []byte("three")) },
			func() error { return srv.Set("/r/b", []byte("4")) },
			func() error { return srv.Delete("/r/b") },
		}
		var told []string
		for ch, err := range numbers.Changes(within(t)) {
			if ch.Type == cache.Created && ch.New.Path == "/r" {
				continue
			}
			if ch.Type != cache.Synced {
				told = append(told, fmt.Sprint(ch.Type, " ", ch.OldValue, " ", ch.Value, " ", err != nil))
			}
			if len(steps) == 0 {
				break
			}
			require.NoError(t, steps[0]())
			steps = steps[1:]
		}
		require.Equal(t, []string{
			"created 0 1 false", "changed 1 2 false", "changed 2 0 true", "changed 0 4 false", "deleted 4 0 false",
		}, told)
	})
}
