package flight

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRingsKeepTheLastEvents(t *testing.T) {
	r := New(4)
	for i := range 11 {
		r.Add(Event{Kind: Released, Name: strconv.Itoa(i)})
		if i%2 == 0 {
			r.Add(Event{Kind: StateChanged, Name: "rare " + strconv.Itoa(i)})
		}
		require.LessOrEqual(t, len(r.Events()), 8)
	}
	var names []string
	for _, e := range r.Events() {
		require.False(t, e.Time.IsZero())
		names = append(names, e.Name)
	}
	require.Equal(t, []string{"rare 4", "rare 6", "7", "8", "rare 8", "9", "10", "rare 10"}, names)
}

// A waiter in the process is asked for its place without the recorder's lock:
// the answer may take a lock under which events are added.
func TestPlacesAreAskedForWithoutTheLock(t *testing.T) {
	r := New(10)
	var a Record
	r.Begin(&a, What{}, time.Now())
	a.QueuedLocally(func() Standing {
		r.Add(Event{}) // takes the recorder's lock
		return Standing{Ahead: 3}
	})
	v := r.Records()[0]
	v.Locate()
	require.Equal(t, 3, v.Ahead)
	require.Equal(t, "in process", v.Stage.String())
	r.Followers().Caches.Add("/a", func() Cache {
		r.Add(Event{})
		return Cache{Root: "/a"}
	})
	require.Equal(t, "/a", r.Followers().Caches.All()[0].Root)
}

// Lost holds that nobody can release any more take no memory in the long run,
// also if nobody ever looks.
func TestLostHoldsThatWereDroppedAreForgotten(t *testing.T) {
	r := New(10)
	gone, end := context.WithCancel(t.Context())
	lose := func() *Record {
		a := &Record{}
		r.Begin(a, What{Path: "/lock"}, time.Now())
		a.Ended(Acquired, "acquired", nil)
		a.Hold("n-1", 7)
		a.Lost(gone, errors.New("lost"))
		return a
	}
	kept := []*Record{lose(), lose(), lose()}
	for range 2 * minSweep {
		lose()
	}
	runtime.GC()
	require.Len(t, r.Records(), 2*minSweep+3, "their nodes may exist")
	end()
	for range 50 {
		for range minSweep {
			lose()
		}
		runtime.GC()
	}
	require.LessOrEqual(t, len(r.lost.all), 4*minSweep)
	all := r.Records()
	require.Len(t, r.lost.all, len(all))
	require.GreaterOrEqual(t, len(all), len(kept))
	for i, a := range kept {
		require.Equal(t, Lost, all[i].Stage)
		a.Gone()
	}
	require.Len(t, r.Records(), len(all)-len(kept))
	require.Zero(t, r.linked)
}
