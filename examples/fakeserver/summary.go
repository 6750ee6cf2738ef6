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

// summarize prints what was asked of the server, most frequent first, and what is left in it.
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
	fmt.Fprintf(w, "\n  %d watch events sent\n", stats.Notifications)
	fmt.Fprintf(w, "  %d sessions left, with %d ephemeral nodes and %d watches\n", len(srv.Sessions()), ephemerals, len(srv.Watches()))
	fmt.Fprintf(w, "  %d nodes left, last zxid 0x%x\n", len(srv.Tree()), srv.Zxid())
}

func byNumber(requests map[zktest.Op]int) []zktest.Op {
	return slices.SortedFunc(maps.Keys(requests), func(a, b zktest.Op) int {
		return cmp.Or(cmp.Compare(requests[b], requests[a]), cmp.Compare(a, b))
	})
}
