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

	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/tracing"
)

// localWaiterSpan returns the span of the only acquire that waited within its
// process.
func (v *service) localWaiterSpan(t *testing.T) (found sdktrace.ReadOnlySpan) {
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

// A holder in this process is known twice: as one of this process's holds, and
// from the data of its node.
func TestSpanHasOneLinkToEachOther(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		held := s.must(v.mutex().Acquire(s.request(v, "POST /orders")))
		shared := v.mutex()
		ctx, cancel := context.WithCancel(context.Background())
		// The last contender that has a node.
		s.inBackground(ctx, shared.Acquire)
		waiting := s.inBackground(s.request(v, "PUT /orders"), shared.Acquire)
		cancel()
		time.Sleep(time.Second)
		s.release(held, 0)
		s.release(<-waiting, 0)
		span := v.localWaiterSpan(t)
		linked := map[trace.SpanID]bool{}
		for _, link := range span.Links() {
			require.False(t, linked[link.SpanContext.SpanID()], "two links to one span")
			linked[link.SpanContext.SpanID()] = true
		}
		require.NotEmpty(t, linked)
	})
}

// An acquire that waits for a holder in its own process learns as much about it
// as one that has read the holder's node.
func TestLocalWaiterKnowsTheHolderOfItsProcess(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		shared := v.mutex()
		held := s.must(shared.Acquire(s.request(v, "POST /orders")))
		next := s.inBackground(context.Background(), shared.Acquire)
		last := s.inBackground(context.Background(), shared.Acquire)
		time.Sleep(4 * time.Second)
		log := strings.Split(v.logged(), "\n")
		require.Len(t, log, 3, "two lines: %s", log)
		holder := regexp.MustCompile(`curator\.lock\.holder=orders@\S+ curator\.lock\.holder\.node=_c_\S+ `)
		require.Equal(t, holder.FindString(log[0]), holder.FindString(log[1]),
			"the first waits at the server, the second in this process")
		require.NotEmpty(t, holder.FindString(log[0]))
		require.Contains(t, log[1], "curator.lock.holder.age=3.1 ", "held before the other came")

		s.release(held, 0)
		s.release(<-next, 0)
		s.release(<-last, 0)
		attrs := attributesOf(v.localWaiterSpan(t).Attributes())
		require.Equal(t, int64(2), attrs["curator.lock.local.ahead"])
	}, tracing.WithSlowWait(3*time.Second))
}

// An acquire that waits behind others of its process, which wait for another
// process, has not read the holder's node. It learns the holder from those that
// have.
func TestLocalWaiterLearnsTheHolderFromThoseAhead(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		stock := s.service("stock")
		held := s.must(stock.mutex().Acquire(s.request(stock, "GET /stock")))
		shared := v.mutex()
		var ahead []<-chan *locks.Lease
		for range 2 { // as many as have nodes
			ahead = append(ahead, s.inBackground(context.Background(), shared.Acquire))
		}
		ctx, cancel := context.WithTimeout(s.request(v, "POST /orders"), time.Second)
		defer cancel()
		_, err := shared.Acquire(ctx)
		require.ErrorContains(t, err, "held by stock@")
		span := v.localWaiterSpan(t)
		require.Contains(t, attributesOf(span.Attributes())["curator.lock.holder"], "stock@")
		require.Len(t, span.Links(), 1)
		holder := stock.endedSpan(t, "acquire sku").SpanContext()
		require.Equal(t, holder.SpanID(), span.Links()[0].SpanContext.SpanID())

		s.release(held, 0)
		for _, next := range ahead {
			s.release(<-next, 0)
		}
	})
}

// An acquire at a semaphore waits for the contender that takes leases at the
// moment, and not for the ones in its own process that have leases already.
func TestLocalWaiterAtASemaphoreWaitsForWhoTakesLeases(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		stock := s.service("stock")
		ours := locks.NewInterProcessSemaphore(v.client, "/sem", locks.Limit(5))
		theirs := locks.NewInterProcessSemaphore(stock.client, "/sem", locks.Limit(5))
		held := s.must(ours.Acquire(s.request(v, "holder")))
		taking := s.inBackground(s.request(stock, "five"), func(ctx context.Context) (*locks.Lease, error) {
			return theirs.AcquireN(ctx, 5)
		})
		var next []<-chan *locks.Lease
		for range 2 {
			next = append(next, s.inBackground(s.request(v, "next"), ours.Acquire))
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
		require.Contains(t, attributesOf(v.localWaiterSpan(t).Attributes())["curator.lock.holder"], "stock@")
	})
}
