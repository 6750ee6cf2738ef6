package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAuditFindsEveryFault breaks correct books in one way at a time.
func TestAuditFindsEveryFault(t *testing.T) {
	orders := []order{{"a", 40, "oslo"}, {"b", 50, "rome"}, {"c", 60, "rome"}}
	correct := func() *books {
		return &books{
			account{Remaining: 10, Token: 5, Sales: []sale{{"a", 40, 3}, {"b", 50, 5}}},
			[]answer{
				{Order: "a", Quantity: 40, Sold: true, Token: 3},
				{Order: "b", Quantity: 50, Sold: true, Token: 5},
				{Order: "c", Quantity: 60, Left: 10, Token: 7},
			},
		}
	}
	a := correct().audit(orders, false)
	require.True(t, a.balances())
	require.Zero(t, a.oversold())

	tests := []struct {
		name     string
		spoil    func(*books)
		rule     int // the check that fails
		oversold int
	}{
		{"units vanished", func(b *books) { b.account.Remaining = 0 }, 0, 0},
		{"a lost update", func(b *books) { b.account.Remaining = 50 }, 0, 40},
		{"below zero", func(b *books) { b.account.Remaining, b.answers[0].Quantity = -1, 51 }, 0, 0},
		{"an overwritten sale", func(b *books) { b.account.Sales = b.account.Sales[1:] }, 2, 0},
		{"a sale twice", func(b *books) { b.account.Sales = append(b.account.Sales, sale{"b", 50, 7}) }, 1, 0},
		{"a sale of another quantity", func(b *books) { b.account.Sales[0].Quantity = 30 }, 1, 0},
		{"a sale without an order", func(b *books) { b.account.Sales[0].Order = "x" }, 1, 0},
		{"a sale without a receipt", func(b *books) { b.answers[0].Sold = false }, 2, 0},
		{"tokens out of order", func(b *books) { slices.Reverse(b.account.Sales) }, 4, 0},
		{"an order without an answer", func(b *books) { b.answers = b.answers[:2] }, 3, 0},
		{"refused but said to be sold", func(b *books) { b.answers[2].Sold = true }, 2, 60},
		{"refused for no reason", func(b *books) { b.account.Remaining, b.answers[0].Quantity = 60, -10 }, 3, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := correct()
			tt.spoil(b)
			a := b.audit(orders, false)
			require.False(t, a.balances())
			require.NotEmpty(t, a.checks[tt.rule].problems)
			require.Equal(t, tt.oversold, a.oversold())
		})
	}
}
