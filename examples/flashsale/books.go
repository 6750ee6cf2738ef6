package main

import (
	"fmt"
	"slices"
)

// books is the content of ZooKeeper after a sale.
type books struct {
	account account
	answers []answer
}

// audit is the result of checking the books. Sold is the number of units that
// customers have receipts for.
type audit struct {
	initial, sold, sales, remaining int
	checks                          []check
}

// check is a rule, and the cases that break it.
type check struct {
	rule     string
	problems []string
}

func (c *check) fail(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (a audit) balances() bool {
	return !slices.ContainsFunc(a.checks, func(c check) bool { return len(c.problems) > 0 })
}

// oversold returns how many promised units do not exist.
func (a audit) oversold() int { return max(0, a.sold+a.remaining-a.initial) }

// audit compares the books with the initial stock and with the orders.
func (b books) audit(orders []order, unsafe bool) audit {
	quantity, answered := map[string]int{}, map[string]answer{}
	for _, o := range orders {
		quantity[o.ID] = o.Quantity
	}
	a := audit{initial: initialStock, remaining: b.account.Remaining}
	for _, answer := range b.answers {
		answered[answer.Order] = answer
		if answer.Sold {
			a.sold += answer.Quantity
			a.sales++
		}
	}

	balance := check{rule: "initial stock = sold + remaining, for every article"}
	if a.sold+a.remaining != a.initial || a.remaining < 0 {
		balance.fail("%s: %d is not %d + %d", article, a.initial, a.sold, a.remaining)
	}

	fills := check{rule: "every sale fills an order, in full, and no order twice"}
	receipts := check{rule: "every customer's receipt has its sale in the ledger, and every sale its receipt"}
	tokens := check{rule: "fencing tokens rise from sale to sale of an article"}
	filled, last := map[string]bool{}, int64(0)
	for _, s := range b.account.Sales {
		if quantity[s.Order] != s.Quantity {
			fills.fail("sale of %d %s for %s", s.Quantity, article, s.Order)
		}
		if filled[s.Order] {
			fills.fail("%s was filled twice", s.Order)
		}
		filled[s.Order] = true
		if !answered[s.Order].Sold {
			receipts.fail("%s: sale without a receipt", s.Order)
		}
		if s.Token <= last {
			tokens.fail("%s: %d after %d", s.Order, s.Token, last)
		}
		last = s.Token
	}

	answers := check{rule: "every order has one answer: sold with a receipt, or refused for lack of stock"}
	for _, o := range orders {
		answer, found := answered[o.ID]
		switch {
		case !found:
			answers.fail("%s: no answer", o.ID)
		case answer.Sold && !filled[o.ID]:
			receipts.fail("%s: receipt without its sale", o.ID)
		case !answer.Sold && a.remaining >= o.Quantity: // the stock only falls
			answers.fail("%s: refused, although %d are left", o.ID, a.remaining)
		}
	}
	a.checks = []check{balance, fills, receipts, answers}
	if !unsafe {
		a.checks = append(a.checks, tokens)
	}
	return a
}
