package discovery_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/thorough"
)

// A directory follows a thousand restarts of instances a minute, each of which
// comes back with another ID, and does not grow by that.
func TestManyRestartsLeaveNothing(t *testing.T) {
	const instances, aMinute = 50, 1000
	minutes := thorough.Size(10, 3)
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := func(n int) string { return fmt.Sprintf("%s/orders/i%06d", base, n) }
		for n := range instances {
			require.NoError(t, w.Fake.Create(path(n), data(t, replica("", n))))
		}
		c, _ := w.Connect(t)
		d := w.directory(t, c)
		news := follow(t, d)
		next, goroutines, inUse := instances, 0, uint64(0)
		for minute := range minutes {
			for range aMinute {
				require.NoError(t, w.Fake.Delete(path(next-instances)))
				require.NoError(t, w.Fake.Create(path(next), data(t, replica("", next))))
				next++
				time.Sleep(time.Minute / aMinute)
				require.LessOrEqual(t, len(d.Snapshot().Entries), instances+aMinute/60+2, "within the grace")
			}
			outlastGrace()
			require.Len(t, d.Instances(), instances)
			told := len(news())
			require.LessOrEqual(t, told, 2*aMinute+instances+1)
			w.Fake.ClearRequests()
			used := heap()
			t.Logf("after %d minutes %d KiB are in use", minute+1, used>>10)
			if minute == 0 {
				goroutines, inUse = runtime.NumGoroutine(), used
				continue
			}
			require.Equal(t, 2*aMinute, told, "each comes and goes")
			require.LessOrEqual(t, runtime.NumGoroutine(), goroutines+2)
			require.Less(t, used, inUse+1<<20, "a restart leaves nothing") // with the fake server's
		}
		require.Len(t, w.Fake.Watches(), 1)
	})
}

// heap returns how many bytes are in use after a collection of garbage.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
