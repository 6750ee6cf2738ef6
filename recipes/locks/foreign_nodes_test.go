package locks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

// A client that may create nodes below a lock's path may write a megabyte into
// each of them.
func TestParticipantsKeepLittleOfWhatOthersHaveWritten(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		const nodes = 20
		for i := range nodes {
			data := fmt.Appendf(nil, "%d %s", i, strings.Repeat("x", 1_000_000))
			require.NoError(t, w.Fake.Create(fmt.Sprintf("/l/lock-%010d", i), data))
		}
		list, err := locks.NewInterProcessMutex(w.Observer, "/l").Participants(t.Context())
		require.NoError(t, err)
		require.Len(t, list, nodes)
		for i, p := range list {
			require.Len(t, p.Data, 4<<10)
			require.LessOrEqual(t, cap(p.Data), 5<<10, "the rest is garbage")
			require.True(t, strings.HasPrefix(p.Identity().Foreign, fmt.Sprint(i, " xxx")))
		}
		_, err = locks.NewInterProcessMutex(w.Observer, "/l").TryAcquire(t.Context())
		var refused *locks.NotAcquiredError
		require.ErrorAs(t, err, &refused)
		require.True(t, strings.HasPrefix(refused.Identity().Foreign, "0 xxx"))
	})
}

// forgedNumbers span more than half of the range of a 32-bit number. The
// distance of two numbers, taken modulo 2^32, does not order them.
var forgedNumbers = []int32{1500000000, -1500000000, 2000000000, -2000000000, 2147483647, -2147483648, 750000000, -750000000}

// forge makes nodes below a lock's path that are named like contenders. A
// client that may create nodes there needs no more rights for that.
func forge(t *testing.T, w *world, path, kind string) (undo func()) {
	ctx := w.Patience(t)
	var forged []string
	for _, n := range forgedNumbers {
		node, err := w.Observer.Create(ctx, fmt.Sprintf("%s/%s%010d", path, kind, n), nil)
		require.NoError(t, err)
		forged = append(forged, node.Path)
	}
	return func() {
		for _, node := range forged {
			require.NoError(t, w.Observer.Delete(ctx, node, framework.AnyVersion))
		}
	}
}

// Nodes that a stranger has named let no contender in beside a holder. The
// listing's order differs from round to round, because the newcomer's own name
// does.
func TestForgedNamesLetNobodyInBesideAHolder(t *testing.T) {
	for name, tc := range map[string]struct {
		kind     string
		holder   func(c *framework.Client, path string) locks.Locker
		newcomer func(c *framework.Client, path string) locks.Locker
	}{
		"mutex": {"lock-", newMutex, newMutex},
		"writer, then reader": {"__WRIT__", func(c *framework.Client, path string) locks.Locker {
			return locks.NewInterProcessReadWriteLock(c, path).WriteLock()
		}, func(c *framework.Client, path string) locks.Locker {
			return locks.NewInterProcessReadWriteLock(c, path).ReadLock()
		}},
		"reader, then writer": {"__READ__", func(c *framework.Client, path string) locks.Locker {
			return locks.NewInterProcessReadWriteLock(c, path).ReadLock()
		}, func(c *framework.Client, path string) locks.Locker {
			return locks.NewInterProcessReadWriteLock(c, path).WriteLock()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			onFakeAndReal(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, _ := w.Connect(t)
				lease, err := tc.holder(c, path).Acquire(ctx)
				require.NoError(t, err)
				undo := forge(t, w, path, tc.kind)
				for range 100 {
					_, err := tc.newcomer(w.Observer, path).TryAcquire(ctx)
					require.ErrorIs(t, err, locks.ErrNotAcquired)
				}
				undo()
				require.NoError(t, lease.Release(ctx))
			})
		})
	}
}

func newMutex(c *framework.Client, path string) locks.Locker {
	return locks.NewInterProcessMutex(c, path)
}
