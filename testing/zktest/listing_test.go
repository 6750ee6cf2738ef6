package zktest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// A client that relies on an order of children has to be found out, however few
// there are: every order comes, and soon.
func TestListingsComeInEveryOrder(t *testing.T) {
	for _, listing := range []struct {
		name   string
		op     wire.Op
		values []any
	}{
		{"getChildren", wire.OpGetChildren, []any{"/p", false}},
		{"getChildren2", wire.OpGetChildren2, []any{"/p", false}},
		{"getEphemerals", wire.OpGetEphemerals, []any{"/p"}},
		{"multiRead", wire.OpMultiRead, []any{wire.OpGetChildren, "/p", false, wire.OpError}},
	} {
		t.Run(listing.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *Server) {
				c := login(t, srv)
				c.create("/p", 0)
				for i := range 4 {
					c.create(fmt.Sprintf("/p/%d", i), int(wire.FlagEphemeral))
				}
				const orders, lists = 24, 1000
				seen := make(map[string]int)
				for range lists {
					body := c.call(listing.op, listing.values...).body
					if listing.op == wire.OpMultiRead {
						decodeMultiHeader(body)
					}
					seen[strings.Join(body.Strings(), " ")]++
				}
				require.Len(t, seen, orders)
				for order, n := range seen {
					require.Less(t, n, 3*lists/orders, order)
				}
			})
		})
	}
}
