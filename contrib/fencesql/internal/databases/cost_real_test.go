//go:build real

package databases

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkCost compares writes with a fence to the same writes without, in one run: the
// two take turns, so that both run under the same load. It reports medians, and their
// ratio: 1 is no cost.
func BenchmarkCost(b *testing.B) {
	ctx := context.Background()
	for _, k := range kinds {
		for name, pair := range map[string][2]func(w world, n int) error{
			"update": {
				func(w world, n int) error {
					return w.registers().Update(ctx, w.db, token(5), 1, w.text("value = $1"), n)
				},
				func(w world, n int) error {
					_, err := w.db.ExecContext(ctx, w.text("UPDATE register SET value = $1 WHERE id = $2"), n, 2)
					return err
				},
			},
			"insert": {
				func(w world, n int) error {
					_, err := w.guards().Exec(ctx, w.db, token(5), "ledger", w.text(addToLedger), n)
					return err
				},
				func(w world, n int) error {
					_, err := w.db.ExecContext(ctx, w.text(addToLedger), n)
					return err
				},
			},
		} {
			b.Run(k.name+"/"+name, func(b *testing.B) {
				w := newWorld(b, k)
				execute(b, k.driver, w.dsn, "INSERT INTO register (id, value) VALUES (2, '')")
				w.db.SetMaxOpenConns(1)
				var took [2][]time.Duration
				n := 0
				for b.Loop() {
					n++
					for _, i := range [][]int{{0, 1}, {1, 0}}[n%2] {
						begin := time.Now()
						require.NoError(b, pair[i](w, n))
						took[i] = append(took[i], time.Since(begin))
					}
				}
				fenced, plain := median(took[0]), median(took[1])
				b.ReportMetric(fenced, "ns/fenced")
				b.ReportMetric(plain, "ns/plain")
				b.ReportMetric(fenced/plain, "ratio")
			})
		}
	}
}

func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2])
}
