//go:build real

package databases

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkCost compares writes with a fence to the same writes without, in one run: the
// two take turns, so that both run under the same load. It reports the median of the
// ratios of two turns: 1 is no cost.
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
				ratios := make([]float64, n)
				for i := range ratios {
					ratios[i] = float64(took[0][i]) / float64(took[1][i])
				}
				b.ReportMetric(median(ratios), "ratio")
				b.ReportMetric(float64(median(took[0])), "ns/fenced")
				b.ReportMetric(float64(median(took[1])), "ns/plain")
			})
		}
	}
}

func median[T cmp.Ordered](all []T) T {
	slices.Sort(all)
	return all[len(all)/2]
}
