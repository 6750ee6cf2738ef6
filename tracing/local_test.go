package tracing_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/tracing"
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

// Who waits in this process for somebody in this process is told as much as those who have read the holder's node.
func TestLocalWaiterKnowsTheHolderOfItsProcess(t *testing.T) {
	alone(t, func(t *testing.T, s *story, v *service) {
		shared := v.mutex()
		held := s.must(shared.Acquire(s.request(v, "POST /orders")))
		next := s.later(func() (*recipes.Lease, error) { return shared.Acquire(context.Background()) })
		last := s.later(func() (*recipes.Lease, error) { return shared.Acquire(context.Background()) })
		time.Sleep(4 * time.Second)
		log := strings.Split(v.logged(), "\n")
		require.Len(t, log, 3, "two lines: %s", log)
		holder := regexp.MustCompile(`curator\.lock\.holder=orders@\S+ curator\.lock\.holder\.node=_c_\S+ `)
		require.Equal(t, holder.FindString(log[0]), holder.FindString(log[1]), "the second waits here, the first at the server")
		require.NotEmpty(t, holder.FindString(log[0]))
		require.Contains(t, log[1], "curator.lock.holder.age=3.1 ", "held before the other came")

		s.release(held, 0)
		s.release(<-next, 0)
		v.spans.Reset()
		lease := <-last
		require.Equal(t, int64(2), about(v.named(t, "acquire sku").Attributes())["curator.lock.local.ahead"])
		s.release(lease, 0)
	}, tracing.WithSlowWait(3*time.Second))
}
