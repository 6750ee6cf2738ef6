package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// books is the content of ZooKeeper after a sale, with one answer to each order.
type books struct {
	account account
	answers []answer
}

// The rules of the books. Only sales under the lock have tokens.
const (
	balance  = "initial stock = sold + remaining, for every article"
	fills    = "every sale fills an order, in full, and no order twice"
	receipts = "every customer's receipt has its sale in the ledger, and every sale its receipt"
	answers  = "every order has one answer: sold with a receipt, or refused for lack of stock"
	tokens   = "fencing tokens rise from sale to sale of an article"
)

// audit is the result of checking the books.
type audit struct {
	sold, sales int                 // units and orders that customers have receipts for
	oversold    int                 // promised units that do not exist; negative if units have vanished
	problems    map[string][]string // by rule
}

func (a audit) require(ok bool, rule, problem string, args ...any) {
	if !ok {
		a.problems[rule] = append(a.problems[rule], fmt.Sprintf(problem, args...))
	}
}

// audit checks the books against the rules.
func (b books) audit() audit {
	a, left := audit{problems: map[string][]string{}}, b.account.Remaining
	filled, last := map[string]bool{}, int64(0)
	for _, s := range b.account.Sales {
		i := slices.IndexFunc(b.answers, func(a answer) bool { return a.ID == s.Order && a.Quantity == s.Quantity })
		a.require(i >= 0, fills, "sale of %d %s for %s", s.Quantity, article, s.Order)
		a.require(!filled[s.Order], fills, "%s was filled twice", s.Order)
		a.require(i < 0 || b.answers[i].Sold, receipts, "%s: sale without a receipt", s.Order)
		a.require(s.Token > last, tokens, "%s: %d after %d", s.Order, s.Token, last)
		filled[s.Order], last = true, s.Token
	}
	for _, answer := range b.answers {
		a.require(!answer.Sold || filled[answer.ID], receipts, "%s: receipt without its sale", answer.ID)
		a.require(answer.Sold || left < answer.Quantity, answers, "%s: refused, although %d are left", answer.ID, left)
		if answer.Sold {
			a.sold += answer.Quantity
			a.sales++
		}
	}
	a.oversold = a.sold + left - initialStock
	a.require(a.oversold == 0 && left >= 0, balance, "%s: %d is not %d + %d", article, initialStock, a.sold, left)
	return a
}

func (s shop) printOpening(w io.Writer, root string) {
	manner := "under a lock per article"
	if s.unsafe {
		manner = "WITHOUT a lock"
	} else if s.crash != "" {
		manner += ", and the first to hold one is killed"
	}
	fmt.Fprintf(w, `Flash sale in %s on an embedded server.
4 orders reach 4 worker processes at once. They read and write the stock %s.

  ARTICLE   IN STOCK   ORDERS   UNITS ORDERED
  %s   %d        4        400

`, root, manner, article, initialStock)
}

var momentText = map[moment]string{
	beforeWrite: "before it had written its sale",
	afterWrite:  "after it had written its sale and before it wrote the receipt",
}

// printReport prints what happened, and returns an error if the flags ask for another outcome.
func (s shop) printReport(w io.Writer, b books) error {
	sorted, rules := ", in the order in which the workers held a lock", []string{balance, fills, receipts, answers, tokens}
	if s.unsafe {
		sorted, rules = "", rules[:4]
	}
	fmt.Fprintf(w, "The answers to the orders%s:\n\n", sorted)
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "  ORDER\tWORKER\tARTICLE\tUNITS\tANSWER\tWAITED\tFENCING TOKEN")
	slices.SortStableFunc(b.answers, func(a, b answer) int { return cmp.Compare(a.Token, b.Token) })
	killed, longest := "", time.Duration(0)
	for _, a := range b.answers {
		text, held := fmt.Sprintf("refused, %d left", a.Left), "-\t-"
		if a.Sold {
			text = "SOLD"
		}
		if a.Found {
			text += ", as found in the ledger"
		}
		if a.Token != 0 {
			held = fmt.Sprintf("%v\t%d", a.Waited.Round(time.Millisecond), a.Token)
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\t%d\t%s\t%s\n", a.ID, a.Process, article, a.Quantity, text, held)
		longest = max(longest, a.Waited)
		if name, isSecond := strings.CutSuffix(a.Process, second); isSecond {
			killed = name
		}
	}
	table.Flush()
	if s.crash != "" {
		fmt.Fprintf(w, `
Worker %s was killed while it held a lock, %s.
Another process took over its orders.
The longest wait was %v; the session timeout is %v.
`, killed, momentText[s.crash], longest.Round(time.Millisecond), sessionTimeout)
	}
	a := b.audit()
	fmt.Fprintf(w, `
The books in ZooKeeper:

  ARTICLE   INITIALLY   SOLD   REMAINING   SALES
  %s   %d         %-4d   %-9d   %d

`, article, initialStock, a.sold, b.account.Remaining, a.sales)
	for _, rule := range rules {
		mark := "ok   "
		if len(a.problems[rule]) > 0 {
			mark = "WRONG"
		}
		fmt.Fprintf(w, "  %s  %s\n", mark, strings.Join(append([]string{rule}, a.problems[rule]...), "\n           "))
	}
	switch {
	case s.unsafe && a.oversold > 0:
		fmt.Fprintf(w, "OVERSOLD by %d\n", a.oversold)
	case !s.unsafe && len(a.problems) == 0:
		fmt.Fprintln(w, "books balance")
	default:
		return errors.New("the books are not as expected")
	}
	return nil
}
