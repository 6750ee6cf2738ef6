package certmagic_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/certmagic"
	"github.com/stretchr/testify/require"

	certstore "github.com/gocurator/curator/contrib/certmagic"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/testing/zktest"
)

// call is a call of a storage, as text, and what it returns, as text.
type call struct {
	name string
	do   func(ctx context.Context, s certmagic.Storage) string
}

func outcome(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	}
	return "error"
}

func store(key, value string) call {
	return call{fmt.Sprintf("Store(%.40q, %.20q)", key, value), func(ctx context.Context, s certmagic.Storage) string {
		return outcome(s.Store(ctx, key, []byte(value)))
	}}
}

func load(key string) call {
	return call{fmt.Sprintf("Load(%q)", key), func(ctx context.Context, s certmagic.Storage) string {
		value, err := s.Load(ctx, key)
		if info, failed := s.Stat(ctx, key); err != nil && failed == nil && !info.IsTerminal {
			return "no value" // of a directory, which is a different error than for a missing file
		}
		return fmt.Sprintf("%q, nil: %t, %s", value, value == nil, outcome(err))
	}}
}

func remove(key string) call {
	return call{fmt.Sprintf("Delete(%q)", key), func(ctx context.Context, s certmagic.Storage) string {
		return outcome(s.Delete(ctx, key))
	}}
}

func exists(key string) call {
	return call{fmt.Sprintf("Exists(%q)", key), func(ctx context.Context, s certmagic.Storage) string {
		return fmt.Sprint(s.Exists(ctx, key))
	}}
}

func list(key string, recursive bool) call {
	return call{fmt.Sprintf("List(%q, %t)", key, recursive), func(ctx context.Context, s certmagic.Storage) string {
		keys, err := s.List(ctx, key, recursive)
		return fmt.Sprintf("%q, %s", keys, outcome(err))
	}}
}

func stat(key string) call {
	return call{fmt.Sprintf("Stat(%q)", key), func(ctx context.Context, s certmagic.Storage) string {
		info, err := s.Stat(ctx, key)
		if !info.IsTerminal {
			info.Size = 0 // a file system has sizes of directories
		}
		return fmt.Sprintf("%q, %d, %t, %s", info.Key, info.Size, info.IsTerminal, outcome(err))
	}}
}

// look are calls that tell all that a storage has at a key.
func look(key string) []call {
	return []call{exists(key), load(key), stat(key), list(key, false), list(key, true)}
}

// calls are what certmagic's own storage, in files, answers in the same way.
func calls() []call {
	var all []call
	add := func(calls ...call) { all = append(all, calls...) }
	looks := func(keys ...string) {
		for _, key := range keys {
			add(look(key)...)
		}
	}
	looks("", "a", "a/b")
	add(remove("a"), remove("a/b"))
	add(store("a/b/c", "1"), store("a/b/d", ""), store("ab/c", "2"), store("a/b/e/f", "\x00x"), store("top", "3"))
	looks("", "a", "a/", "a/b", "a/b/", "a//b", "a/b/c", "a/b/d", "a/b/e", "a/b/e/f", "ab", "b", "a/x", "to", "top")
	add(store("a/b/c", "new"), store("a/b/d", "\x00"), store("a/b/e/f", "\x00\x00"), store("top", ""))
	looks("a/b/c", "a/b/d", "a/b/e/f", "top")
	add(store("", "x"))
	add(remove("a/b/c"), remove("a/b/c"), remove("top"))
	looks("", "a", "a/b", "a/b/c", "top")
	add(remove("a/b/e/f"))
	looks("a/b", "a/b/e")
	add(remove("a"))
	looks("", "a", "a/b", "ab")
	for i, name := range strangeNames {
		add(store("s/"+name, fmt.Sprint(i)), load("s/"+name))
	}
	looks("s")
	for _, name := range strangeNames[:3] {
		add(store("d/"+name+"/"+name, name))
		looks("d", "d/"+name)
		add(remove("d/"+name), exists("d/"+name))
	}
	add(remove("s"))
	looks("s", "d")
	add(store("large", strings.Repeat("l", 900_000)), stat("large"), load("large"))
	return all
}

// strangeNames are names that files may have.
var strangeNames = []string{
	"*.example.com", "example.com+1", "user@example.com", "a b", "ü", "\xff\xfe", "%", "%2A", "%2a", "%zz", "a%2Fb",
	"...", ".hidden", "-", "~", "tab\t", "line\nfeed", "\x01", "\x7f", "\u009f", "\ue000", "\ufff0", "\U0001F512",
	"zookeeper", "a\\b", "a?b#c", "quote\"'`", strings.Repeat("n", 200),
}

func compare(t *testing.T, ours certmagic.Storage, files *certmagic.FileStorage, calls []call) {
	t.Helper()
	for i, c := range calls {
		require.Equal(t, c.do(bounded(t), files), c.do(bounded(t), ours), "call %d: %s", i, c.name)
	}
}

func inFiles(t *testing.T) *certmagic.FileStorage {
	return &certmagic.FileStorage{Path: filepath.Join(t.TempDir(), "storage")}
}

// certmagic's own storage is the reference: all calls of both are answered alike.
func TestAnswersMatchFiles(t *testing.T) {
	recipetest.OnFakeAndReal(t, func(t *testing.T, w *recipetest.World) {
		ours, err := certstore.New(w.Observer, recipetest.Path(t), open)
		require.NoError(t, err)
		compare(t, ours, inFiles(t), calls())
	})
}

// These are the ways in which keys differ from files.
func TestKeysThatAreAlsoPrefixes(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, b *process) {
		ctx := bounded(t)
		for _, first := range []string{"both", "both/below"} {
			require.NoError(t, a.Store(ctx, first, []byte("old")))
			require.NoError(t, a.Store(ctx, "both", nil))
			require.NoError(t, a.Store(ctx, "both/below", []byte("1")))
			require.NoError(t, a.Store(ctx, "both", []byte("value")))
			requireValue(t, b, "both", "value")
			requireValue(t, b, "both/below", "1")
			info, err := b.Stat(ctx, "both")
			require.NoError(t, err)
			require.True(t, info.IsTerminal)
			keys, err := b.List(ctx, "", true)
			require.NoError(t, err)
			require.Equal(t, []string{"both", "both/below"}, keys)
			require.NoError(t, a.Delete(ctx, "both"))
			require.False(t, b.Exists(ctx, "both"))
		}
		_, err := a.Load(ctx, "")
		require.ErrorIs(t, err, fs.ErrNotExist)
	})
}

func TestAnyBytesAreAKey(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, b *process) {
		ctx := bounded(t)
		var all []byte
		for c := range 256 {
			if c != '/' {
				all = append(all, byte(c))
			}
		}
		for _, key := range []string{string(all), ".", "..", "../..", "a/../b", "\x00", strings.Repeat("k", 5000)} {
			require.NoError(t, a.Store(ctx, key, []byte(key)), "%q", key)
			requireValue(t, b, key, key)
			keys, err := b.List(ctx, "", true)
			require.NoError(t, err)
			require.Contains(t, keys, key)
			require.NoError(t, a.Delete(ctx, strings.Split(key, "/")[0]))
			keys, err = b.List(ctx, "", true)
			require.NoError(t, err)
			require.Empty(t, keys)
		}
		require.Equal(t, []string{"keys"}, srv.Children(root), "nothing is beside them")
	})
}

func TestEverythingIsNotDeleted(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *zktest.Server, a, _ *process) {
		ctx := bounded(t)
		require.NoError(t, a.Store(ctx, "a", nil))
		require.ErrorContains(t, a.Delete(ctx, ""), "must not be empty")
		require.ErrorContains(t, a.Delete(ctx, "/"), "must not be empty")
		require.True(t, a.Exists(ctx, "a"))
	})
}

// Nodes of others are no keys. They go with the key that they are below.
func TestNodesThatAreNoKeys(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, _ *process) {
		ctx := bounded(t)
		require.NoError(t, a.Store(ctx, "a/b", []byte("1")))
		for _, name := range []string{"ü", "a b", "%2e", "%41", "%"} {
			require.NoError(t, srv.Create(root+"/keys/a/"+name, []byte("x")))
			require.NoError(t, srv.Create(root+"/keys/a/"+name+"/below", nil))
		}
		keys, err := a.List(ctx, "a", true)
		require.NoError(t, err)
		require.Equal(t, []string{"a/b"}, keys)
		require.NoError(t, a.Delete(ctx, "a"))
		require.False(t, a.Exists(ctx, "a"))
	})
}
