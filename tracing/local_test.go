package tracing_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes"
)

// A holder in this process is known twice: as one of our holds, and by what its node says.
func TestSpanHasOneLinkToEachOther(t *testing.T) {
	alone(t, func(t *testing.T, s *story, v *service) {
		held := s.must(v.mutex().Acquire(s.request(v, "POST /orders")))
		shared := v.mutex()
		ctx, cancel := context.WithCancel(context.Background())
		for range 2 { // as many as have nodes
			s.later(func() (*recipes.Lease, error) { return shared.Acquire(ctx) })
		}
		waiting := s.later(func() (*recipes.Lease, error) { return shared.Acquire(s.request(v, "PUT /orders")) })
		cancel()
		time.Sleep(time.Second)
		s.release(held, 0)
		v.spans.Reset()
		lease := <-waiting
		require.Len(t, v.named(t, "acquire sku").Links(), 1)
		s.release(lease, 0)
	})
}
