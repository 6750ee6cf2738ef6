package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/gocurator/curator/examples/internal/demo"
)

// printTable prints rows of tab-separated cells, indented.
func printTable(w io.Writer, rows ...string) {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(t, "  "+r)
	}
	t.Flush()
}

// printOpening prints what is about to happen.
func printOpening(stage demo.Stage, cfg config, root string) {
	servers, manner := stage.Servers, "under a lock per article"
	if stage.Embedded {
		servers = "an embedded server"
	}
	if cfg.Unsafe {
		manner = "WITHOUT a lock"
	}
	if cfg.Crash != "" {
		manner += ", and the first to hold one is killed"
	}
	units := 0
	for _, o := range storyOrders {
		units += o.Quantity
	}
	n := len(storyOrders)
	fmt.Fprintf(stage.Out, "Flash sale in %s on %s.\n", root, servers)
	fmt.Fprintf(stage.Out, "%d orders reach %d worker processes at once. They read and write the stock %s.\n\n", n, n, manner)
	printTable(stage.Out, "ARTICLE\tIN STOCK\tORDERS\tUNITS ORDERED",
		fmt.Sprintf("%s\t%d\t%d\t%d", article, initialStock, n, units))
}

// printReport prints what happened, and whether it was right.
func printReport(w io.Writer, cfg config, timeout time.Duration, b books, a audit) {
	if cfg.Unsafe {
		fmt.Fprint(w, "\nThe answers to the orders:\n\n")
	} else {
		fmt.Fprint(w, "\nThe answers to the orders, in the order in which the workers held a lock:\n\n")
	}
	printAnswers(w, b.answers)
	if cfg.Crash != "" {
		longest := slices.MaxFunc(b.answers, func(a, b answer) int { return cmp.Compare(a.Waited, b.Waited) })
		fmt.Fprintf(w, "\nWorker %s was killed while it held a lock, %s.\n", victim, momentText[cfg.Crash])
		fmt.Fprintln(w, "Another process took over its orders.")
		fmt.Fprintf(w, "The longest wait was %v; the session timeout is %v.\n", longest.Waited.Round(time.Millisecond), timeout)
	}
	fmt.Fprint(w, "\nThe books in ZooKeeper:\n\n")
	printTable(w, "ARTICLE\tINITIALLY\tSOLD\tREMAINING\tSALES",
		fmt.Sprintf("%s\t%d\t%d\t%d\t%d", article, a.initial, a.sold, a.remaining, a.sales))
	fmt.Fprintln(w)
	for _, c := range a.checks {
		mark := "ok   "
		if len(c.problems) > 0 {
			mark = "WRONG"
		}
		fmt.Fprintf(w, "  %s  %s\n", mark, c.rule)
		for _, p := range c.problems {
			fmt.Fprintf(w, "           %s\n", p)
		}
	}
	fmt.Fprintln(w, conclusion(cfg, a))
}

var momentText = map[moment]string{
	beforeWrite: "before it had written its sale",
	afterWrite:  "after it had written its sale and before it wrote the receipt",
}

// printAnswers prints the answers, sorted by fencing token, or without locks by
// order.
func printAnswers(w io.Writer, answers []answer) {
	rows := []string{"ORDER\tWORKER\tARTICLE\tUNITS\tANSWER\tWAITED\tFENCING TOKEN"}
	for _, a := range slices.SortedFunc(slices.Values(answers), func(a, b answer) int {
		return cmp.Or(cmp.Compare(a.Token, b.Token), cmp.Compare(a.Order, b.Order))
	}) {
		text := fmt.Sprintf("refused, %d left", a.Left)
		if a.Sold {
			text = "SOLD"
		}
		if a.Found {
			text += ", as found in the ledger"
		}
		held := "-\t-"
		if a.Token != 0 {
			held = fmt.Sprintf("%v\t%d", a.Waited.Round(time.Millisecond), a.Token)
		}
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%d\t%s\t%s", a.Order, a.Process, article, a.Quantity, text, held))
	}
	printTable(w, rows...)
}

// conclusion returns the last line.
func conclusion(cfg config, a audit) string {
	switch {
	case a.oversold() > 0:
		return fmt.Sprintf("OVERSOLD by %d", a.oversold())
	case !a.balances():
		return "books do NOT balance"
	case cfg.Unsafe:
		return "By luck no worker read while another was about to write; try a longer -think.\nbooks balance"
	}
	return "books balance"
}
