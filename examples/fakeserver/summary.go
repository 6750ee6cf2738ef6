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

// summarize prints the number of requests of each type, the most frequent
// first, and what is left on the server.
func summarize(w io.Writer, srv *zktest.Server, served time.Duration) {
	stats := srv.Stats()
	fmt.Fprintf(w, "\nserved for %v\n\n", served.Round(time.Millisecond))
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "  REQUEST\tNUMBER")
	total := 0
	for _, op := range byNumber(stats.Requests) {
		total += stats.Requests[op]
		fmt.Fprintf(table, "  %v\t%d\n", op, stats.Requests[op])
	}
	fmt.Fprintf(table, "  total\t%d\n", total)
	table.Flush()

	ephemerals := 0
	for _, s := range srv.Sessions() {
		ephemerals += len(s.Ephemerals)
	}
	fmt.Fprintf(w, "\n  watch events sent: %d\n", stats.Notifications)
	fmt.Fprintf(w, "  sessions left: %d (ephemeral nodes: %d, watches: %d)\n",
		len(srv.Sessions()), ephemerals, len(srv.Watches()))
	fmt.Fprintf(w, "  nodes left: %d\n", len(srv.Tree()))
	fmt.Fprintf(w, "  last zxid: 0x%x\n", srv.Zxid())
}

func byNumber(requests map[zktest.Op]int) []zktest.Op {
	return slices.SortedFunc(maps.Keys(requests), func(a, b zktest.Op) int {
		return cmp.Or(cmp.Compare(requests[b], requests[a]), cmp.Compare(a, b))
	})
}
