package seat

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// All children count, as in Curator. Only nodes of the recipe are named as
// holders.
func TestPlacesAreTakenByEverybody(t *testing.T) {
	const guid = "_c_01234567-89ab-cdef-0123-456789abcdef-"
	for name, tc := range map[string]struct {
		children []string
		ahead    int
		holder   string
	}{
		"none":             {nil, 0, ""},
		"one":              {[]string{"lease-0000000003"}, 1, "lease-0000000003"},
		"the first":        {[]string{"lease-0000000005", "lease-0000000003"}, 2, "lease-0000000003"},
		"foreign ones":     {[]string{"zzz", "0"}, 2, ""},
		"foreign and one":  {[]string{"-", "lease-0000000009"}, 2, "lease-0000000009"},
		"no numbers left":  {[]string{"lease--2147483648", "lease-2147483646"}, 2, "lease-2147483646"},
		"with ids of ours": {[]string{"lease-0000000009", guid + "lease-0000000007"}, 2, guid + "lease-0000000007"},
	} {
		t.Run(name, func(t *testing.T) {
			c := contender{
				lock: &Lock{cfg: Config{Path: "/s/leases", Kinds: []string{"lease-"}}},
				seen: NotAdmitted{Ahead: 9, Holder: "has gone"},
			}
			c.noteQueue(firstOf(tc.children, c.lock.cfg.Kinds), len(tc.children))
			require.WithinDuration(t, time.Now(), c.seen.Seen, time.Minute)
			c.seen.Seen = time.Time{}
			require.Equal(t, NotAdmitted{Ahead: tc.ahead, Holder: tc.holder}, c.seen)
		})
	}
}
