package lockloop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// All children count, as in Curator. Only nodes of the recipe are named as
// holders.
func TestCrowdIsEverybodyButOurselves(t *testing.T) {
	ours := guid + "lease-0000000007"
	for name, tc := range map[string]struct {
		children []string
		ahead    int
		holder   string
	}{
		"alone":               {[]string{ours}, 0, ""},
		"with one":            {[]string{ours, "lease-0000000003"}, 1, "lease-0000000003"},
		"the first":           {[]string{"lease-0000000005", ours, "lease-0000000003"}, 2, "lease-0000000003"},
		"who came later":      {[]string{ours, "lease-0000000009"}, 1, "lease-0000000009"},
		"foreign ones, too":   {[]string{ours, "zzz", "0"}, 2, ""},
		"foreign and one":     {[]string{ours, "-", "lease-0000000009"}, 2, "lease-0000000009"},
		"no numbers left":     {[]string{ours, "lease--2147483648", "lease-2147483646"}, 2, "lease-2147483646"},
		"not our own":         {[]string{"lease-0000000001", ours}, 1, "lease-0000000001"},
		"another's same name": {[]string{"lease-0000000007", ours}, 1, "lease-0000000007"},
	} {
		t.Run(name, func(t *testing.T) {
			c := contender{
				loop: &Loop{nodes: Nodes{Path: "/s/leases", Kinds: []string{"lease-"}}},
				node: framework.Created{Path: "/s/leases/" + ours},
				seen: NotAdmitted{Ahead: 9, Holder: "has gone"},
			}
			c.noteOthers(tc.children)
			require.WithinDuration(t, time.Now(), c.seen.Seen, time.Minute)
			c.seen.Seen = time.Time{}
			require.Equal(t, NotAdmitted{Ahead: tc.ahead, Holder: tc.holder}, c.seen)
		})
	}
}
