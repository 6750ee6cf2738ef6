package flight

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRingsKeepTheLastEvents(t *testing.T) {
	r := New()
	r.rare.size, r.frequent.size = 4, 4
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
	r := New()
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

// A program that never releases the holds that it has lost does not fill the memory.
func TestOnlyTheNewestLostHoldsAreKept(t *testing.T) {
	r := New()
	lose := func(i int) *Record {
		a := &Record{}
		r.Begin(a, What{Path: strconv.Itoa(i)}, time.Now())
		a.Ended(Acquired, "acquired", nil)
		a.Hold("n-1", 7)
		a.Lost(errors.New("lost"))
		return a
	}
	var held Record
	r.Begin(&held, What{Path: "held"}, time.Now())
	var all []*Record
	for i := range mostLost + 3 {
		all = append(all, lose(i))
	}
	records := r.Records()
	require.Len(t, records, 1+mostLost)
	require.Equal(t, "held", records[0].Path)
	require.Equal(t, "3", records[1].Path)
	require.EqualError(t, records[1].Err, "lost")
	require.Equal(t, "3", r.losses.next.what.Path) // the oldest loss is found without a search
	for _, a := range all {
		a.Gone()
	}
	require.Len(t, r.Records(), 1)
	require.Zero(t, r.lost)
	require.Equal(t, 1, r.linked)
}
