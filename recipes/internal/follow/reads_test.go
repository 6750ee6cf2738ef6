package follow_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/testing/zktest"
)

// readAll reads nodes, and returns the data of those that are there, and the
// errors of the others.
func readAll(ctx context.Context, r follow.Reads, paths []string) (data []string, failed map[int]error, err error) {
	var mu sync.Mutex
	data, failed = make([]string, len(paths)), map[int]error{}
	err = r.Each(ctx, paths, func(i int, node insider.NodeRead) error {
		mu.Lock()
		defer mu.Unlock()
		if data[i] = string(node.Data); node.Err != nil {
			failed[i] = node.Err
		}
		return nil
	})
	return data, failed, err
}

// makeNodes makes nodes whose data are their paths.
func makeNodes(t *testing.T, w *recipetest.World, n int) (paths []string) {
	require.NoError(t, w.Fake.Create("/r", nil))
	for i := range n {
		path := fmt.Sprint("/r/", i)
		require.NoError(t, w.Fake.Create(path, []byte(path)))
		paths = append(paths, path)
	}
	w.Fake.ClearRequests()
	return paths
}

func TestManyNodesAreReadWithFewRequests(t *testing.T) {
	for nodes, requests := range map[int]int{0: 0, 1: 0, 3: 0, 4: 1, 16: 1, 17: 1, 20: 2, 1000: 6, 2000: 8} {
		inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
			paths := makeNodes(t, w, nodes)
			data, failed, err := readAll(t.Context(), follow.ReadsOf(w.Observer, 8), paths)
			require.NoError(t, err)
			require.Empty(t, failed)
			require.True(t, slices.Equal(paths, data))
			require.Equal(t, requests, w.Fake.CountRequests(zkinside.OpMultiRead), "%d nodes", nodes)
			alone := map[int]int{1: 1, 3: 3, 17: 1}[nodes]
			require.Equal(t, alone, w.Fake.CountRequests(zktest.OpGetData), "%d nodes", nodes)
		})
	}
}

// What the server says of one node is about that node alone, and the error is
// the same for one that is read by itself.
func TestNodeThatCannotBeReadFailsNoOther(t *testing.T) {
	recipetest.OnFakeAndReal(t, func(t *testing.T, w *recipetest.World) {
		ctx, root := w.Patience(t), recipetest.Path(t)
		owner, _ := w.Connect(t, framework.WithAuth("digest", []byte("me:secret")))
		var paths []string
		for i := range 5 {
			path := fmt.Sprint(root, "/", i)
			paths = append(paths, path)
			opts := []framework.CreateOption{framework.WithParents()}
			if i == 1 {
				opts = append(opts, framework.WithACL(zk.DigestACL(zk.PermAll, "me", "secret")))
			}
			if i != 3 {
				_, err := owner.Create(ctx, path, []byte("data"), opts...)
				require.NoError(t, err)
			}
		}
		alone := follow.ReadsOf(w.Observer, 8)
		alone.Several = func(context.Context, ...string) ([]insider.NodeRead, int64, error) { return nil, 0, errOther }
		together := follow.ReadsOf(w.Observer, 8)
		together.One = func(context.Context, string) ([]byte, *zk.Stat, error) { return nil, nil, errOther }
		all := []follow.Reads{alone}
		if watch, err := w.Observer.NewWatcher(ctx, root); err == nil { // the server shows that it knows multiRead
			defer watch.Close()
			all = append(all, together)
		}
		require.True(t, w.Fake == nil || len(all) == 2)
		for _, reads := range all {
			data, failed, err := readAll(ctx, reads, paths)
			require.NoError(t, err)
			require.Equal(t, []string{"data", "", "data", "", "data"}, data)
			require.Len(t, failed, 2)
			require.Equal(t, &framework.OpError{Op: "get", Path: paths[1], Err: zk.ErrNoAuth}, failed[1])
			require.Equal(t, &framework.OpError{Op: "get", Path: paths[3], Err: zk.ErrNoNode}, failed[3])
		}
	})
}

// Without a connection, the reads of many nodes wait as long as a single one.
func TestReadsWithoutAConnectionWaitOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		paths := makeNodes(t, w, 100)
		c, network := w.Connect(t, framework.WithConnectionTimeout(5*time.Second))
		network.Refuse(true)
		network.Cut()
		synctest.Wait()
		begun := time.Now()
		_, failed, err := readAll(t.Context(), follow.ReadsOf(c, 8), paths)
		require.ErrorIs(t, err, framework.ErrNotConnected)
		require.Empty(t, failed)
		require.LessOrEqual(t, time.Since(begun), 5*time.Second)
	})
}

// ofSizes are nodes of so many bytes, of which a client takes an answer of limit
// bytes at most. The reads are noted.
func ofSizes(limit int, sizes []int, reads *[]int) follow.Reads {
	number := func(path string) (i int) {
		_, _ = fmt.Sscanf(path, "/%d", &i)
		return i
	}
	one := func(path string) insider.NodeRead {
		return insider.NodeRead{Data: make([]byte, sizes[number(path)]), Stat: &zk.Stat{}}
	}
	return follow.Reads{
		Slots: make(follow.Slots, 1),
		One: func(_ context.Context, path string) ([]byte, *zk.Stat, error) {
			*reads = append(*reads, 1)
			return one(path).Data, &zk.Stat{}, nil
		},
		Several: func(_ context.Context, paths ...string) (all []insider.NodeRead, _ int64, err error) {
			*reads = append(*reads, len(paths))
			size := 0
			for _, path := range paths {
				all = append(all, one(path))
				size += sizes[number(path)]
			}
			if size > limit {
				return nil, 0, framework.ErrAnswerTooLarge
			}
			return all, 0, nil
		},
	}
}

// An answer that the client does not take is asked for in parts, down to single
// nodes. Nodes with much data are not read many at a time. The next nodes may be
// larger than those before, so no request has more than twice as many.
func TestAnswersThatAreTooLargeAreAskedForInParts(t *testing.T) {
	for name, c := range map[string]struct {
		limit, nodes, size int
		want               []int
	}{
		"small":              {1 << 20, 300, 100, []int{16, 32, 64, 128, 60}},
		"too large at first": {1 << 20, 128, 100 << 10, append([]int{16, 8}, slices.Repeat([]int{1}, 120)...)},
		"never small enough": {1 << 10, 4, 1 << 10, []int{4, 1, 1, 1, 1}},
		"large":              {64 << 20, 300, 100 << 10, append([]int{16}, slices.Repeat([]int{1}, 284)...)},
		"very many":          {64 << 20, 5000, 1, []int{16, 32, 64, 128, 256, 512, 985, 978, 978, 978, 73}},
		"very large":         {64 << 20, 19, 300 << 10, []int{16, 1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var reads, paths, sizes = []int(nil), []string(nil), slices.Repeat([]int{c.size}, c.nodes)
			for i := range c.nodes {
				paths = append(paths, fmt.Sprint("/", i))
			}
			data, _, err := readAll(t.Context(), ofSizes(c.limit, sizes, &reads), paths)
			require.NoError(t, err)
			require.Equal(t, c.want, reads)
			for _, d := range data {
				require.Len(t, d, c.size)
			}
		})
	}
}

// The requests are as short as the answers, as soon as it is known how long the paths
// are.
func TestRequestsForLongPathsAreShort(t *testing.T) {
	var paths []string
	var asked []int
	long := strings.Repeat("x", 20<<10)
	for i := range 40 {
		paths = append(paths, fmt.Sprint("/", i, long))
	}
	reads := ofSizes(1<<20, make([]int, 40), &asked)
	_, _, err := readAll(t.Context(), reads, paths)
	require.NoError(t, err)
	require.Equal(t, []int{16, 6, 6, 6, 6}, asked)
}

// An error that the caller returns ends the reads.
func TestErrorOfTheCallerEndsTheReads(t *testing.T) {
	var paths []string
	for i := range 1000 {
		paths = append(paths, fmt.Sprint("/", i))
	}
	for _, limit := range []int{0, 1 << 20} {
		var asked []int
		err := ofSizes(limit, slices.Repeat([]int{100}, 1000), &asked).Each(t.Context(), paths, func(i int, _ insider.NodeRead) error {
			if i == 3 {
				return errOther
			}
			return nil
		})
		require.ErrorIs(t, err, errOther)
		require.Less(t, len(asked), 13)
	}
}
