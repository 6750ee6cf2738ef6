package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// average returns the averages over n measurements, rounded.
func (c counts) average(n int) counts {
	mean := func(sum int) int { return (sum + n/2) / n }
	return counts{mean(c.woken), mean(c.events), mean(c.requests), mean(c.bytes)}
}

func report(w io.Writer, costs []cost) {
	fmt.Fprint(w, "The cost of one release, until the next holder has the lock and all others wait:\n\n")
	table(w, costs, func(c cost) counts { return c.release })
	fmt.Fprint(w, "\nThe cost of one more waiter, until all wait:\n\n")
	table(w, costs, func(c cost) counts { return c.arrival })
}

func table(w io.Writer, costs []cost, part func(cost) counts) {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	defer t.Flush()
	fmt.Fprintln(t, "  LOCK\tWAITERS\tCLIENTS WOKEN\tEVENTS\tREQUESTS\tBYTES")
	for _, c := range costs {
		p := part(c)
		fmt.Fprintf(t, "  %s\t%d\t%d\t%d\t%d\t%d\n",
			c.design, c.waiters, p.woken, p.events, p.requests, p.bytes)
	}
}
