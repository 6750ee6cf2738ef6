package tracing_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

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
		waiting := s.inBackground(s.request(v, "PUT /orders"), v.mutex().Acquire)
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
		time.Sleep(4 * time.Second)
		require.Regexp(t, `curator\.lock\.holder=orders@\S+ curator\.lock\.holder\.node=_c_\S+ `, v.logged())
		require.Contains(t, v.logged(), "curator.lock.holder.age=3", "held before the other came")

		s.release(held, 0)
		s.release(<-next, 0)
		attrs := attributesOf(v.localWaiterSpan(t).Attributes())
		require.Equal(t, int64(1), attrs["curator.lock.local.ahead"])
	}, tracing.WithSlowWait(3*time.Second))
}
