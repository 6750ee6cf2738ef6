package tracing_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/tracing"
)

// waitedLocally returns the span of the only acquire that did.
func (v *service) waitedLocally(t *testing.T) (found sdktrace.ReadOnlySpan) {
	t.Helper()
	for _, span := range v.spans.Ended() {
		for _, event := range span.Events() {
			if event.Name == "queued locally" {
				require.Nil(t, found)
				found = span
			}
		}
	}
	require.NotNil(t, found)
	return found
}

// A holder in this process is known twice: as one of our holds, and by what its node says.
func TestSpanHasOneLinkToEachOther(t *testing.T) {
	alone(t, func(t *testing.T, s *story, v *service) {
		held := s.must(v.mutex().Acquire(s.request(v, "POST /orders")))
		shared := v.mutex()
		ctx, cancel := context.WithCancel(context.Background())
		s.later(func() (*recipes.Lease, error) { return shared.Acquire(ctx) }) // the last that has a node
		waiting := s.later(func() (*recipes.Lease, error) { return shared.Acquire(s.request(v, "PUT /orders")) })
		cancel()
		time.Sleep(time.Second)
		s.release(held, 0)
		s.release(<-waiting, 0)
		span := v.waitedLocally(t)
		linked := map[trace.SpanID]bool{}
		for _, link := range span.Links() {
			require.False(t, linked[link.SpanContext.SpanID()], "two links to one span")
			linked[link.SpanContext.SpanID()] = true
		}
		require.NotEmpty(t, linked)
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
		s.release(<-last, 0)
		require.Equal(t, int64(2), about(v.waitedLocally(t).Attributes())["curator.lock.local.ahead"])
	}, tracing.WithSlowWait(3*time.Second))
}

// Who gives up in this process, behind others who wait for another process, has not read the holder's node: they have.
func TestLocalWaiterLearnsTheHolderFromThoseAhead(t *testing.T) {
	alone(t, func(t *testing.T, s *story, v *service) {
		stock := s.service("stock")
		held := s.must(stock.mutex().Acquire(s.request(stock, "GET /stock")))
		shared := v.mutex()
		var ahead []<-chan *recipes.Lease
		for range 2 { // as many as have nodes
			ahead = append(ahead, s.later(func() (*recipes.Lease, error) { return shared.Acquire(context.Background()) }))
		}
		ctx, cancel := context.WithTimeout(s.request(v, "POST /orders"), time.Second)
		defer cancel()
		_, err := shared.Acquire(ctx)
		require.ErrorContains(t, err, "held by stock@")
		span := v.waitedLocally(t)
		require.Contains(t, about(span.Attributes())["curator.lock.holder"], "stock@")
		require.Len(t, span.Links(), 1)
		require.Equal(t, stock.named(t, "acquire sku").SpanContext().SpanID(), span.Links()[0].SpanContext.SpanID())

		s.release(held, 0)
		for _, next := range ahead {
			s.release(<-next, 0)
		}
	})
}

// At a semaphore it waits for whoever is taking leases, and not for those of its process who have some.
func TestLocalWaiterAtASemaphoreWaitsForWhoTakesLeases(t *testing.T) {
	alone(t, func(t *testing.T, s *story, v *service) {
		stock := s.service("stock")
		ours := recipes.NewInterProcessSemaphore(v.client, "/sem", 5)
		theirs := recipes.NewInterProcessSemaphore(stock.client, "/sem", 5)
		held := s.must(ours.Acquire(s.request(v, "holder")))
		taking := s.later(func() (*recipes.Lease, error) { return theirs.AcquireN(s.request(stock, "five"), 5) })
		var next []<-chan *recipes.Lease
		for range 2 {
			next = append(next, s.later(func() (*recipes.Lease, error) { return ours.Acquire(s.request(v, "next")) }))
		}
		ctx, cancel := context.WithTimeout(s.request(v, "last"), time.Second)
		defer cancel()
		_, err := ours.Acquire(ctx)
		require.ErrorContains(t, err, "stock@")
		s.release(held, 0)
		s.release(<-taking, 0)
		for _, lease := range next {
			s.release(<-lease, 0)
		}
		require.Contains(t, about(v.waitedLocally(t).Attributes())["curator.lock.holder"], "stock@")
	})
}
