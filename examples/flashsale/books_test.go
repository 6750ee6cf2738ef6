package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAuditFindsEveryFault breaks correct books in one way at a time.
func TestAuditFindsEveryFault(t *testing.T) {
	type day struct {
		books
		results []result
	}
	cfg := config{
		stock:  []article{{"cap", 10}},
		orders: []order{{"a", "cap", 4, "oslo"}, {"b", "cap", 5, "rome"}, {"c", "cap", 6, "rome"}},
	}
	correct := func() *day {
		a, b := sale{"a", "cap", 4, "oslo", 3}, sale{"b", "cap", 5, "rome", 5}
		return &day{
			books{map[string]account{"cap": {Remaining: 1, Token: 5, Sales: []sale{a, b}}}, []sale{a, b}},
			[]result{
				{cfg.orders[0], answer{Order: "a", Sold: true, Token: 3}, 1},
				{cfg.orders[1], answer{Order: "b", Sold: true, Token: 5}, 1},
				{cfg.orders[2], answer{Order: "c", Left: 1, Token: 7}, 1},
			},
		}
	}
	change := func(d *day, f func(*account)) {
		a := d.accounts["cap"]
		f(&a)
		d.accounts["cap"] = a
	}
	d := correct()
	a := d.audit(cfg, d.results)
	require.True(t, a.balances())
	require.Zero(t, a.oversold())

	tests := []struct {
		name     string
		spoil    func(*day)
		oversold int
	}{
		{"units vanished", func(d *day) { change(d, func(a *account) { a.Remaining = 0 }) }, 0},
		{"a lost update", func(d *day) { change(d, func(a *account) { a.Remaining = 6 }) }, 5},
		{"below zero", func(d *day) { change(d, func(a *account) { a.Remaining = -1 }) }, 0},
		{"an overwritten sale", func(d *day) { change(d, func(a *account) { a.Sales = a.Sales[1:] }) }, 0},
		{"a sale twice", func(d *day) { change(d, func(a *account) { a.Sales = append(a.Sales, a.Sales[1]) }) }, 0},
		{"a sale of another quantity", func(d *day) { change(d, func(a *account) { a.Sales[0].Quantity = 3 }) }, 0},
		{"a sale without an order", func(d *day) { change(d, func(a *account) { a.Sales[0].Order = "x" }) }, 0},
		{"tokens out of order", func(d *day) { change(d, func(a *account) { slices.Reverse(a.Sales) }) }, 0},
		{"a lost receipt", func(d *day) { d.receipts = d.receipts[:1] }, 0},
		{"an order without an answer", func(d *day) { d.results = d.results[:2] }, 0},
		{"an order with two answers", func(d *day) { d.results = append(d.results, d.results[0]) }, 0},
		{"sold but said to be refused", func(d *day) { d.results[0].Sold = false }, 0},
		{"refused but said to be sold", func(d *day) { d.results[2].Sold = true }, 0},
		{"refused for no reason", func(d *day) { d.results[2].Quantity = 1 }, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := correct()
			tt.spoil(d)
			a := d.audit(cfg, d.results)
			require.False(t, a.balances())
			require.Equal(t, tt.oversold, a.oversold())
		})
	}
}
