package zktest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A client that relies on an order of children has to be found out, however few
// there are: every order comes, and soon.
func TestListingsComeInEveryOrder(t *testing.T) {
	for _, listing := range []struct {
		name   string
		op     Op
		values []any
	}{
		{"getChildren", OpGetChildren, []any{"/p", false}},
		{"getChildren2", OpGetChildren2, []any{"/p", false}},
		{"multiRead", OpMultiRead, []any{OpGetChildren, "/p", false, opError}},
		{"getEphemerals", OpGetEphemerals, []any{"/p"}},
	} {
		t.Run(listing.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *Server) {
				c := login(t, srv)
				c.create("/p", 0)
				for i := range 4 {
					c.create(fmt.Sprintf("/p/%d", i), int(flagEphemeral))
				}
				const orders, lists = 24, 1000
				seen := make(map[string]int)
				for range lists {
					body := c.call(listing.op, listing.values...).body
					if listing.op == OpMultiRead {
						decodeMultiHeader(body)
					}
					seen[strings.Join(body.strings(), " ")]++
				}
				require.Len(t, seen, orders)
				for order, n := range seen {
					require.Less(t, n, 3*lists/orders, order)
				}
			})
		})
	}
}

func TestSameSeedSameListings(t *testing.T) {
	list := func(seed uint64) (lists []string) {
		bubble(t, func(t *testing.T, srv *Server) {
			c := login(t, srv)
			c.create("/p", 0)
			for i := range 4 {
				c.create(fmt.Sprintf("/p/%d", i), int(flagEphemeral))
			}
			for range 20 {
				lists = append(lists, strings.Join(c.call(OpGetChildren, "/p", false).body.strings(), " "))
				lists = append(lists, strings.Join(c.call(OpGetEphemerals, "/p").body.strings(), " "))
			}
		}, WithRandom(Random{Seed: seed}))
		return lists
	}
	seed := SeedOf(t)
	require.Equal(t, list(seed), list(seed))
	require.NotEqual(t, list(seed), list(seed+1))
}
