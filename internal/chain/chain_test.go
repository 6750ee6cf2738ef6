package chain

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryReaderHearsEverythingInOrder(t *testing.T) {
	first := New(0)
	end := make(chan struct{})
	var readers sync.WaitGroup
	heard := make([][]int, 5)
	for i := range heard {
		readers.Go(func() { heard[i] = slices.Collect(first.Following(end, nil)) })
	}
	last, want := first, []int(nil)
	for v := 1; v <= 1000; v++ {
		last = last.Append(v)
		want = append(want, v)
	}
	close(end) // what has been said by then is still heard
	readers.Wait()
	for _, got := range heard {
		require.Equal(t, want, got)
	}
}

func TestReaderMayStopAndHearsOnlyWhatFollows(t *testing.T) {
	first := New("a")
	second := first.Append("b")
	second.Append("c")
	for v := range first.Following(nil, nil) {
		require.Equal(t, "b", v)
		break
	}
	other := make(chan struct{})
	close(other)
	require.Equal(t, []string{"c"}, slices.Collect(second.Following(nil, other)))
	<-second.Followed()
	require.Equal(t, "c", second.Next().Value)
}
