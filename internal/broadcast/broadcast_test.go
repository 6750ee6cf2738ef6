package broadcast

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryReaderSeesEveryValueInOrder(t *testing.T) {
	first := New(0)
	end := make(chan struct{})
	var readers sync.WaitGroup
	seen := make([][]int, 5)
	for i := range seen {
		readers.Go(func() { seen[i] = slices.Collect(first.All(end, nil)) })
	}
	last, want := first, []int(nil)
	for v := 1; v <= 1000; v++ {
		last = last.Append(v)
		want = append(want, v)
	}
	close(end) // values appended before are still read
	readers.Wait()
	for _, got := range seen {
		require.Equal(t, want, got)
	}
}

func TestReaderMayStopAndSeesOnlyWhatFollows(t *testing.T) {
	first := New("a")
	second := first.Append("b")
	second.Append("c")
	for v := range first.All(nil, nil) {
		require.Equal(t, "b", v)
		break
	}
	other := make(chan struct{})
	close(other)
	require.Equal(t, []string{"c"}, slices.Collect(second.All(nil, other)))
	<-second.Done()
	require.Equal(t, "c", second.Next().Value)
}
