package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/semconv"
)

// lostWait is an order that waits in vain behind a contender whose spans were
// not collected.
func lostWait() *span {
	start := time.Unix(1_700_000_000, 0)
	root := &span{
		service: "orders", name: "POST <orders> & more", trace: "0af7651916cd43dd8448eb211c80319c", id: "01",
		start: start, end: start.Add(3 * time.Second), problem: "no lock",
	}
	root.children = []*span{{
		service: "orders", name: "acquire sku", trace: root.trace, id: "02", parent: "01",
		start: start, end: start.Add(3 * time.Second), problem: "timeout",
		attributes: attributes{
			semconv.LockOutcome: "not_acquired", semconv.LockPath: "/locks/sku-42",
			semconv.LockPosition: int64(2), semconv.LockHolder: "unknown",
		},
		links: []link{{trace: "b7ad6b7169203331", id: "00f067aa0ba902b7", kind: "holder"}},
		events: []event{{
			start.Add(1500 * time.Microsecond), semconv.EventSuspended,
			attributes{semconv.Cause: "connection reset"},
		}, {
			start.Add(time.Second), semconv.EventRestored, nil,
		}},
	}}
	return root
}

func TestTreeOfALostWait(t *testing.T) {
	var out bytes.Buffer
	printTraces(&out, []*span{lostWait()})
	require.Equal(t, `orders, trace 0af76519, at 0s

POST <orders> & more  3s, error: no lock
└─ acquire sku  waited 3s for /locks/sku-42, position 2, behind unknown, not acquired, error: timeout
     link to the holder: span 00f067aa0ba902b7 of trace b7ad6b71
     +1.5ms   connection suspended: connection reset
     +1s      connection restored
`, out.String())
}

func TestPictureOfALostWait(t *testing.T) {
	svg := draw([]*span{lostWait()})
	require.Contains(t, textsOf(t, svg), "POST <orders> & more")
	require.Contains(t, textsOf(t, svg), "position 2, behind unknown")
	require.NotContains(t, string(svg), "marker-end", "there is nothing to point at")
	textsOf(t, draw(nil)) // must be well-formed
}

func TestRound(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 312 * time.Microsecond: "312µs", 1234567: "1.23ms", 83456789: "83.5ms", 1123456789: "1.12s",
		754 * time.Second: "12m34s",
	} {
		require.Equal(t, want, round(d).String())
	}
}
