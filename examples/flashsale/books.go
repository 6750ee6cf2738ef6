package main

import (
	"fmt"
)

// books is the content of ZooKeeper after a sale.
type books struct {
	accounts map[string]account // the keys are articles
	receipts []sale
}

// audit is the result of checking the books.
type audit struct {
	lines  []line
	checks []check
}

// line is an article's balance. Sold is the number of units that customers have
// receipts for.
type line struct {
	article   string
	initial   int
	sold      int
	sales     int
	remaining int
}

// oversold returns how many promised units the stock does not account for. A
// negative result is the number of missing units.
func (l line) oversold() int { return l.sold + l.remaining - l.initial }

// check is a rule, and the cases that break it.
type check struct {
	rule     string
	problems []string
}

func (c *check) fail(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (a *audit) balances() bool {
	for _, c := range a.checks {
		if len(c.problems) > 0 {
			return false
		}
	}
	return true
}

// oversold returns how many units of all articles were promised but do not
// exist.
func (a *audit) oversold() int {
	n := 0
	for _, l := range a.lines {
		n += max(0, l.oversold())
	}
	return n
}

// audit compares the books with the initial stock, with the orders and with the
// workers' answers.
func (b books) audit(cfg config, results []result) audit {
	a := audit{lines: b.lines(cfg.stock)}
	a.checks = []check{
		balance(a.lines),
		b.fillsOnce(cfg.orders),
		b.confirms(),
		b.answers(cfg.orders, results),
	}
	if !cfg.unsafe {
		a.checks = append(a.checks, b.tokensRise(cfg.stock))
	}
	return a
}

func (b books) lines(stock []article) []line {
	lines := make([]line, len(stock))
	for i, a := range stock {
		lines[i] = line{article: a.Name, initial: a.Units, remaining: b.accounts[a.Name].Remaining}
		for _, r := range b.receipts {
			if r.Article == a.Name {
				lines[i].sold += r.Quantity
				lines[i].sales++
			}
		}
	}
	return lines
}

func balance(lines []line) check {
	c := check{rule: "initial stock = sold + remaining, for every article"}
	for _, l := range lines {
		if l.oversold() != 0 || l.remaining < 0 {
			c.fail("%s: %d is not %d + %d", l.article, l.initial, l.sold, l.remaining)
		}
	}
	return c
}

// fillsOnce checks the sales in the accounts. An order cannot have two
// receipts, because a receipt is a node.
func (b books) fillsOnce(orders []order) check {
	c := check{rule: "every sale fills an order, in full, and no order twice"}
	byID := map[string]order{}
	for _, o := range orders {
		byID[o.ID] = o
	}
	filled := map[string]bool{}
	for article, account := range b.accounts {
		for _, s := range account.Sales {
			o, known := byID[s.Order]
			if !known || o.Article != article || o.Quantity != s.Quantity {
				c.fail("sale of %d %s for %s", s.Quantity, article, s.Order)
			}
			if filled[s.Order] {
				c.fail("%s was filled twice", s.Order)
			}
			filled[s.Order] = true
		}
	}
	return c
}

func (b books) confirms() check {
	c := check{rule: "every customer's receipt has its sale in the ledger, and every sale its receipt"}
	receipts := map[string]bool{}
	for _, r := range b.receipts {
		receipts[r.Order] = true
		if s, found := b.accounts[r.Article].sale(r.Order); !found || s != r {
			c.fail("%s: receipt without its sale", r.Order)
		}
	}
	for _, account := range b.accounts {
		for _, s := range account.Sales {
			if !receipts[s.Order] {
				c.fail("%s: sale without a receipt", s.Order)
			}
		}
	}
	return c
}

// answers checks the workers' answers. Stock only falls, so a refusal was right
// if the remaining stock is too small now.
func (b books) answers(orders []order, results []result) check {
	c := check{rule: "every order has one answer: sold with a receipt, or refused for lack of stock"}
	receipts, given := map[string]bool{}, map[string]int{}
	for _, r := range b.receipts {
		receipts[r.Order] = true
	}
	for _, r := range results {
		given[r.ID]++
		if r.Sold != receipts[r.ID] {
			c.fail("%s: the answer and the receipts differ", r.ID)
		}
		if left := b.accounts[r.Article].Remaining; !r.Sold && left >= r.Quantity {
			c.fail("%s: refused, although %d are left", r.ID, left)
		}
	}
	for _, o := range orders {
		if given[o.ID] != 1 {
			c.fail("%s: %d answers", o.ID, given[o.ID])
		}
	}
	return c
}

func (b books) tokensRise(stock []article) check {
	c := check{rule: "fencing tokens rise from sale to sale of an article"}
	for _, a := range stock {
		var last int64
		for _, s := range b.accounts[a.Name].Sales {
			if s.Token <= last {
				c.fail("%s: %d after %d", s.Order, s.Token, last)
			}
			last = s.Token
		}
	}
	return c
}
