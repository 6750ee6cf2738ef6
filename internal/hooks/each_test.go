package hooks_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/hooks"
)

// Hooks that panic, or end their goroutine, take no news from those behind them,
// however many do.
func TestEachCallsAllWhateverTheyDo(t *testing.T) {
	for name, fails := range map[string]func(){
		"panic":  func() { panic("hook") },
		"goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			var called []int
			done := make(chan any)
			go func() {
				defer func() { done <- recover() }()
				hooks.Each([]int{1, 2, 3, 4, 5}, func(i int) {
					called = append(called, i)
					if i%2 == 0 {
						fails()
					}
				})
			}()
			failed := <-done
			require.Equal(t, []int{1, 2, 3, 4, 5}, called)
			require.Equal(t, name == "panic", failed != nil)
		})
	}
}
