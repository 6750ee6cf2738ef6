//go:build !race

package locks_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// mostMemory has some room, for another version of Go: it was 3,550 with Go 1.26.
const mostMemory = 3900

// What the library keeps in memory for a mutex that is held, and for the watch on its
// node. The holder has dropped the object. That nobody waits for the context saves
// about 100 B. The profile has the stack of each allocation, so that what the fake
// server keeps is left out.
func TestMemoryOfAHeldLock(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		const n = 1000
		c, _ := w.Connect(t)
		paths := make([]string, n)
		for i := range paths { // makes the parents
			paths[i] = fmt.Sprint("/locks/", i)
			cycle(t, t.Context(), locks.NewInterProcessMutex(c, paths[i]))
		}
		leases := make([]*locks.Lease, n)
		before := memoryInUse(t)
		defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
		runtime.MemProfileRate = 1 // every allocation
		for i, path := range paths {
			time.Sleep(10 * time.Millisecond) // so that they are not watched all at once
			leases[i] = hold(t, t.Context(), locks.NewInterProcessMutex(c, path))
		}
		time.Sleep(2 * time.Second)
		require.Equal(t, n, framework.Extend(c).Watches(), "each node is watched")
		var memory int64
		for at, bytes := range memoryInUse(t) {
			memory += max(bytes-before[at], 0) // what others have freed meanwhile is not ours
		}
		for _, lease := range leases {
			require.NoError(t, lease.Release(t.Context()))
		}
		t.Logf("a lock that is held costs %d bytes", memory/n)
		require.LessOrEqual(t, memory/n, int64(mostMemory))
	})
}

// stack is where an allocation was made.
type stack [32]uintptr

// memoryInUse returns how many bytes there are that were allocated at each place, and
// not by the fake server.
func memoryInUse(t *testing.T) map[stack]int64 {
	t.Helper()
	synctest.Wait()
	runtime.GC() // the profile is as of the last but one
	runtime.GC()
	records := make([]runtime.MemProfileRecord, 100_000)
	n, complete := runtime.MemProfile(records, false)
	require.True(t, complete, "the profile has %d records", n)
	bytes := map[stack]int64{}
	for _, r := range records[:n] {
		if !isOfFake(r.Stack()) {
			bytes[r.Stack0] += r.InUseBytes()
		}
	}
	return bytes
}

func isOfFake(calls []uintptr) bool {
	for frames := runtime.CallersFrames(calls); ; {
		frame, more := frames.Next()
		if strings.Contains(frame.Function, "/testing/zktest.") {
			return true
		}
		if !more {
			return false
		}
	}
}

// Many programs make an object for each acquire.
func TestHeldLockDoesNotKeepItsObject(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		object, lease := holdByItself(t, c)
		time.Sleep(2 * time.Second)
		runtime.GC()
		require.Nil(t, object.Value())
		require.NoError(t, lease.Release(t.Context()))
	})
}

// holdByItself returns the lease of an object that nobody else refers to.
func holdByItself(t *testing.T, c *framework.Client) (weak.Pointer[locks.InterProcessMutex], *locks.Lease) {
	m := locks.NewInterProcessMutex(c, "/locks/a")
	return weak.Make(m), hold(t, t.Context(), m)
}

// mostMemoryOfWaiter has some room, too: it was 7,080 with Go 1.26. Nearly all of it
// is the stack, whose size doubles. One more call before the wait, or a large
// variable in one of those there are, makes it 11,000.
const mostMemoryOfWaiter, mostWithALargerStack = 9000, 13_000

// What the library keeps in memory for a goroutine that waits behind others of its
// client.
func TestMemoryOfAWaiter(t *testing.T) {
	most := mostMemoryOfWaiter
	if runtime.GOARCH != "amd64" { // other processors may need more
		most = mostWithALargerStack
	}
	// The garbage collector chooses the size of new stacks, by those that it finds.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	inVirtualTime(t, func(t *testing.T, w *world) {
		cost := costOfGoroutines(t, w, 1000)
		t.Logf("a waiter costs %.0f bytes", cost.memory)
		require.LessOrEqual(t, cost.memory, float64(most))
	})
}
