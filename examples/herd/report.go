package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// over returns the averages, rounded.
func (c counts) over(n int) counts {
	mean := func(sum int) int { return (sum + n/2) / n }
	return counts{mean(c.woken), mean(c.events), mean(c.requests), mean(c.bytes)}
}

func report(w io.Writer, costs []cost) {
	fmt.Fprint(w, "What one release of a lock costs, until the next holder has it and all others wait again:\n\n")
	table(w, costs, func(c cost) counts { return c.release })
	fmt.Fprint(w, "\nWhat one more waiter costs, until all wait again:\n\n")
	table(w, costs, func(c cost) counts { return c.arrival })
}

func table(w io.Writer, costs []cost, part func(cost) counts) {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	defer t.Flush()
	fmt.Fprintln(t, "  LOCK\tWAITERS\tCLIENTS WOKEN\tEVENTS\tREQUESTS\tBYTES")
	for _, c := range costs {
		p := part(c)
		fmt.Fprintf(t, "  %s\t%d\t%d\t%d\t%d\t%d\n", c.design, c.waiters, p.woken, p.events, p.requests, p.bytes)
	}
}
