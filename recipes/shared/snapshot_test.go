package shared

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/internal/sharednode"
)

func at(mzxid int64, version int32) *sharednode.Snapshot {
	return sharednode.Present(nil, &zk.Stat{Mzxid: mzxid, Version: version})
}

// Reads are ordered by transactions, and not by versions, which wrap
// (CURATOR-688) and begin anew.
//
// Promise: A shared value never goes back to an older version.
func TestReadsAreOrderedByTransactions(t *testing.T) {
	none := sharednode.Absent(5, 9)
	for name, test := range map[string]struct {
		now, base, read *sharednode.Snapshot
		afterSync       bool
		want            readResult
		setBack, taken  bool
	}{
		"first":                            {read: at(1, 0), want: accepted, taken: true},
		"newer":                            {now: at(1, 9), read: at(2, 10), want: accepted, taken: true},
		"newer, of a lower version":        {now: at(1, 1<<31-1), read: at(2, -1<<31), want: accepted, taken: true},
		"newer, of the same version":       {now: at(1, 0), read: at(2, 0), want: accepted, taken: true},
		"the same":                         {now: at(2, 1), read: at(2, 1), want: accepted},
		"older":                            {now: at(2, 0), read: at(1, 7), want: doubtful},
		"older, after a sync":              {now: at(2, 0), read: at(1, 7), afterSync: true, want: accepted, setBack: true, taken: true},
		"older than one that came later":   {now: at(2, 0), base: at(1, 0), read: at(1, 0), afterSync: true, want: accepted},
		"none":                             {now: at(2, 0), read: sharednode.Absent(8, 8), want: doubtful},
		"none, after a sync":               {now: at(2, 0), read: sharednode.Absent(8, 8), afterSync: true, want: accepted, taken: true},
		"none, and another came meanwhile": {now: at(3, 0), base: at(2, 0), read: sharednode.Absent(2, 4), afterSync: true, want: unordered},
		"re-created":                       {now: none, read: at(10, 0), want: accepted, taken: true},
		"from before it was gone":          {now: none, base: at(4, 0), read: at(5, 0), want: accepted},
		"before or behind":                 {now: none, base: at(4, 0), read: at(7, 0), afterSync: true, want: unordered},
		"before or behind, read later":     {now: none, read: at(7, 0), want: doubtful},
		"before or behind, after a sync":   {now: none, read: at(7, 0), afterSync: true, want: accepted, taken: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := &replica{now: test.now}
			base := test.base
			if base == nil {
				base = test.now
			}
			v, setBack := r.accept(test.read, base, test.afterSync)
			require.Equal(t, test.want, v)
			require.Equal(t, test.setBack, setBack)
			require.Equal(t, test.taken, r.now == test.read)
		})
	}
}

// A write is no news if something newer is known. If that is not certain, the
// node is read again.
func TestWritesAreOrderedByTransactions(t *testing.T) {
	none := sharednode.Absent(5, 9)
	for name, test := range map[string]struct {
		now, written   *sharednode.Snapshot
		certain, taken bool
	}{
		"first":            {nil, at(1, 0), true, true},
		"newer":            {at(1, 5), at(2, 0), true, true},
		"the same":         {at(2, 0), at(2, 0), true, false},
		"older":            {at(3, 0), at(2, 9), true, false},
		"re-created":       {none, at(10, 0), true, true},
		"gone since":       {none, at(5, 0), true, false},
		"before or behind": {none, at(6, 0), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := &replica{now: test.now}
			require.Equal(t, test.certain, r.wrote(test.written))
			require.Equal(t, test.taken, r.now == test.written)
		})
	}
}

// Versions go from -2 to 0 on newer servers, and to -1 on older ones.
func TestVersionsWrap(t *testing.T) {
	e := expected{exists: true, version: -2}
	require.True(t, e.next(-1))
	require.True(t, e.next(0))
	require.False(t, e.next(1))
	require.True(t, expected{exists: true, version: 1<<31 - 1}.next(-1<<31))
}

// There was no node before the expected node, either. That no node was seen then is no
// reason to refuse a TrySet.
//
// Promise: TrySet is refused only because of a newer change.
func TestOnlyWhatCameLaterRefusesATrySet(t *testing.T) {
	e := expected{exists: true, mzxid: 5}
	for name, test := range map[string]struct {
		now  *sharednode.Snapshot
		past bool
	}{
		"nothing is known":              {nil, false},
		"what is expected":              {at(5, 0), false},
		"what was before":               {at(4, 0), false},
		"a later write":                 {at(6, 1), true},
		"none, before":                  {sharednode.Absent(2, 4), false},
		"none, before or behind":        {sharednode.Absent(4, 9), false},
		"none, asked when it was known": {sharednode.Absent(5, 5), true},
		"none, behind":                  {sharednode.Absent(6, 9), true},
	} {
		require.Equal(t, test.past, e.isPast(test.now), name)
	}
	require.False(t, expected{mzxid: 5}.isPast(at(6, 0)), "no node is expected, and there may be none again")
}

// A read that is answered late finds no node either. What is known of its absence
// does not become older.
//
// Promise: A late reply makes a known absence no older.
func TestAbsenceDoesNotBecomeOlder(t *testing.T) {
	r := &replica{now: sharednode.Absent(5, 9)}
	v, setBack := r.accept(sharednode.Absent(2, 4), r.now, false)
	require.Equal(t, accepted, v)
	require.False(t, setBack)
	require.Equal(t, sharednode.Absent(5, 9), r.now)
	r.accept(sharednode.Absent(7, 8), r.now, false)
	require.Equal(t, sharednode.Absent(7, 9), r.now)
}
