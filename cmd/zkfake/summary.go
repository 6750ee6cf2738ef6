package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/gocurator/curator/testing/zktest"
)

// summarize prints the number of requests of each type, the most frequent first, and
// the sessions, watches and nodes that are left.
func summarize(w io.Writer, s *servers, served time.Duration) {
	requests, total := s.requests()
	fmt.Fprintf(w, "\nserved for %v\n\n", served.Round(time.Millisecond))
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "  REQUEST\tNUMBER")
	for _, op := range byNumber(requests) {
		fmt.Fprintf(table, "  %v\t%d\n", op, requests[op])
	}
	fmt.Fprintf(table, "  total\t%d\n", total)
	table.Flush()

	sessions, ephemerals := s.newest().Sessions(), 0
	for _, sess := range sessions {
		ephemerals += len(sess.Ephemerals)
	}
	fmt.Fprintf(w, "\n  watch events sent: %d\n", s.notifications())
	fmt.Fprintf(w, "  sessions left: %d (ephemeral nodes: %d, watches: %d)\n",
		len(sessions), ephemerals, len(s.watches()))
	fmt.Fprintf(w, "  nodes left: %d\n", len(s.newest().Tree()))
	fmt.Fprintf(w, "  last zxid: 0x%x\n", s.lastZxid())
}

func byNumber(requests map[zktest.Op]int) []zktest.Op {
	return slices.SortedFunc(maps.Keys(requests), func(a, b zktest.Op) int {
		return cmp.Or(cmp.Compare(requests[b], requests[a]), cmp.Compare(a, b))
	})
}
