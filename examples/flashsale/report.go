package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
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
func printOpening(w io.Writer, cfg config, root string) {
	servers := cfg.servers
	if servers == "" {
		servers = "an embedded server"
	}
	fmt.Fprintf(w, "Flash sale in %s on %s.\n", root, servers)
	fmt.Fprintf(w, "%d orders reach %d worker processes at once. %s.\n\n",
		len(cfg.orders), len(workerNames(cfg.orders)), manner(cfg))
	rows := []string{"ARTICLE\tIN STOCK\tORDERS\tUNITS ORDERED"}
	for _, a := range cfg.stock {
		orders, units := 0, 0
		for _, o := range cfg.orders {
			if o.Article == a.Name {
				orders++
				units += o.Quantity
			}
		}
		rows = append(rows, fmt.Sprintf("%s\t%d\t%d\t%d", a.Name, a.Units, orders, units))
	}
	printTable(w, rows...)
}

func manner(cfg config) string {
	if cfg.unsafe {
		return "They read and write the stock WITHOUT a lock"
	}
	if cfg.crash != "" {
		return "They read and write the stock under a lock per article, and the first to hold one is killed"
	}
	return "They read and write the stock under a lock per article"
}

// print prints what happened, and whether it was right.
func (f *flashSale) print(w io.Writer) {
	f.printResults(w)
	f.printCrash(w)
	f.printBooks(w)
	fmt.Fprintln(w, f.verdict())
}

func (f *flashSale) printResults(w io.Writer) {
	if f.cfg.unsafe {
		fmt.Fprint(w, "\nThe answers to the orders:\n\n")
	} else {
		fmt.Fprint(w, "\nThe answers to the orders, in the order in which the workers held a lock:\n\n")
	}
	rows := []string{"ORDER\tWORKER\tARTICLE\tUNITS\tANSWER\tWAITED\tFENCING TOKEN"}
	for _, r := range f.byToken() {
		rows = append(rows, r.row())
	}
	printTable(w, rows...)
}

// byToken sorts the results by fencing token, or without locks by order.
func (f *flashSale) byToken() []result {
	return slices.SortedFunc(slices.Values(f.results), func(a, b result) int {
		return cmp.Or(cmp.Compare(a.Token, b.Token), cmp.Compare(a.ID, b.ID))
	})
}

func (r result) row() string {
	waited, token := r.Waited.Round(time.Millisecond).String(), fmt.Sprint(r.Token)
	if r.Token == 0 {
		waited, token = "-", "-"
	}
	return fmt.Sprintf("%s\t%s\t%s\t%d\t%s\t%s\t%s",
		r.ID, processName(r.Worker, r.nth), r.Article, r.Quantity, r.text(), waited, token)
}

func (a answer) text() string {
	switch {
	case a.Found:
		return "SOLD, as found in the ledger"
	case a.Sold:
		return "SOLD"
	default:
		return fmt.Sprintf("refused, %d left", a.Left)
	}
}

func processName(worker string, nth int) string {
	if nth == 1 {
		return worker
	}
	return fmt.Sprintf("%s (process %d)", worker, nth)
}

func (f *flashSale) printCrash(w io.Writer) {
	switch {
	case f.killed != nil:
		fmt.Fprintf(w, "\nWorker %s was killed while it held a lock, %s.\n",
			f.killed.job.Worker, momentText[f.cfg.crash])
		fmt.Fprintln(w, "Another process took over its orders.")
		fmt.Fprintf(w, "The longest wait was %v; the session timeout is %v.\n",
			f.longestWait().Round(time.Millisecond), f.cfg.sessionTimeout)
	case f.cfg.crash != "":
		fmt.Fprintf(w, "\nNo worker was killed: worker %s sold nothing, and so never reached that moment.\n",
			workerNames(f.cfg.orders)[0])
	}
}

var momentText = map[moment]string{
	beforeWrite: "before it had written its sale",
	afterWrite:  "after it had written its sale and before it wrote the receipt",
}

func (f *flashSale) longestWait() time.Duration {
	var longest time.Duration
	for _, r := range f.results {
		longest = max(longest, r.Waited)
	}
	return longest
}

func (f *flashSale) printBooks(w io.Writer) {
	fmt.Fprint(w, "\nThe books in ZooKeeper:\n\n")
	rows := []string{"ARTICLE\tINITIALLY\tSOLD\tREMAINING\tSALES"}
	for _, l := range f.audit.lines {
		rows = append(rows, fmt.Sprintf("%s\t%d\t%d\t%d\t%d",
			l.article, l.initial, l.sold, l.remaining, l.sales))
	}
	printTable(w, rows...)
	fmt.Fprintln(w)
	for _, c := range f.audit.checks {
		c.print(w)
	}
}

func (c check) print(w io.Writer) {
	const most = 5 // further problems would say the same
	if len(c.problems) == 0 {
		fmt.Fprintf(w, "  ok     %s\n", c.rule)
		return
	}
	fmt.Fprintf(w, "  WRONG  %s\n", c.rule)
	for _, p := range c.problems[:min(most, len(c.problems))] {
		fmt.Fprintf(w, "           %s\n", p)
	}
	if more := len(c.problems) - most; more > 0 {
		fmt.Fprintf(w, "           and %d more\n", more)
	}
}

// verdict returns the last line.
func (f *flashSale) verdict() string {
	switch n := f.audit.oversold(); {
	case n > 0:
		return fmt.Sprintf("OVERSOLD by %d", n)
	case !f.audit.balances():
		return "books do NOT balance"
	case f.cfg.unsafe:
		return "By luck no worker read while another was about to write; try a longer -think.\nbooks balance"
	default:
		return "books balance"
	}
}
