package atomic

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What a Load has seen is taken if it is younger than what is known, also by the
// version: a server that lags behind answers later, and with what is older.
//
// Promise: A Load that read earlier does not replace newer data.
func TestOnlyAYoungerLoadIsTaken(t *testing.T) {
	at := func(second, czxid int64, version int32) snapshot {
		return snapshot{at: time.Unix(second, 0), exists: true, czxid: czxid, version: version}
	}
	for name, tc := range map[string]struct {
		seen, loaded snapshot
		taken        bool
	}{
		"nothing known":          {snapshot{}, at(1, 1, 1), true},
		"younger":                {at(1, 1, 1), at(2, 1, 2), true},
		"younger, another node":  {at(1, 1, 5), at(2, 2, 0), true},
		"looked at before":       {at(2, 1, 1), at(1, 1, 1), false},
		"later, and lags behind": {at(1, 1, 2), at(2, 1, 1), false},
	} {
		t.Run(name, func(t *testing.T) {
			c := &cell{seen: tc.seen, loaded: tc.loaded}
			c.takeLoaded()
			want := tc.seen
			if tc.taken {
				want = tc.loaded
			}
			require.Equal(t, want, c.seen)
			require.Zero(t, c.loaded, "it is used once")
		})
	}
}
