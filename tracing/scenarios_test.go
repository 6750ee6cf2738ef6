package tracing_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
)

func TestUncontended(t *testing.T) {
	runStory(t, func(s *story) {
		orders := s.service("orders")
		lease := s.must(orders.mutex().Acquire(s.request(orders, "POST /orders")))
		s.release(lease, 2*time.Second)
	})
}

func TestContendedByThreeProcesses(t *testing.T) {
	runStory(t, func(s *story) {
		orders, stock, billing := s.service("orders"), s.service("stock"), s.service("billing")
		first := s.must(orders.mutex().Acquire(s.request(orders, "POST /orders")))
		second := s.inBackground(s.request(stock, "GET /stock"), stock.mutex().Acquire)
		third := s.inBackground(context.Background(), billing.mutex().Acquire)
		s.release(first, 4*time.Second)
		s.release(<-second, 1500*time.Millisecond)
		s.release(<-third, 1500*time.Millisecond)
	})
}

func TestTimeout(t *testing.T) {
	runStory(t, func(s *story) {
		orders, stock := s.service("orders"), s.service("stock")
		held := s.must(orders.mutex().Acquire(s.request(orders, "POST /orders")))
		ctx, cancel := context.WithTimeout(s.request(stock, "GET /stock"), 3*time.Second)
		defer cancel()
		_, err := stock.mutex().Acquire(ctx)
		require.ErrorIs(s, err, context.DeadlineExceeded)
		s.release(held, 1500*time.Millisecond)
	})
}

func TestCancel(t *testing.T) {
	runStory(t, func(s *story) {
		orders, stock := s.service("orders"), s.service("stock")
		held := s.must(orders.mutex().Acquire(s.request(orders, "POST /orders")))
		ctx, cancel := context.WithCancel(s.request(stock, "GET /stock"))
		refused := s.inBackground(ctx, stock.mutex().Acquire)
		cancel()
		require.Nil(s, <-refused)
		s.release(held, 1500*time.Millisecond)
	})
}

func TestTryOfAHeldLock(t *testing.T) {
	runStory(t, func(s *story) {
		orders, stock := s.service("orders"), s.service("stock")
		held := s.must(orders.mutex().Acquire(s.request(orders, "POST /orders")))
		_, err := stock.mutex().TryAcquire(s.request(stock, "GET /stock"))
		require.ErrorIs(s, err, locks.ErrNotAcquired)
		s.release(held, 1500*time.Millisecond)
	})
}

func TestSessionLossWhileWaiting(t *testing.T) {
	runStory(t, func(s *story) {
		orders, stock := s.service("orders"), s.service("stock")
		held := s.must(orders.mutex().Acquire(s.request(orders, "POST /orders")))
		waiting := s.inBackground(s.request(stock, "GET /stock"), stock.mutex().Acquire)
		s.answerConnectsAt(time.Second)
		session := s.srv.Session(stock.client.SessionID())
		session.Cut() // so that it does not hear that its own node is gone
		session.Expire()
		time.Sleep(3 * time.Second)
		s.release(held, 1500*time.Millisecond)
		s.release(<-waiting, 1500*time.Millisecond)
	})
}

func TestSessionLossWhileHolding(t *testing.T) {
	runStory(t, func(s *story) {
		orders := s.service("orders")
		held := s.must(orders.mutex().Acquire(s.request(orders, "POST /orders")))
		// The holder does not watch its node yet.
		time.Sleep(500 * time.Millisecond)
		s.answerConnectsAt(900 * time.Millisecond)
		s.srv.Session(orders.client.SessionID()).Expire()
		<-held.Context().Done()
		time.Sleep(3 * time.Second)
		require.Error(s, held.Release(context.Background()))
	})
}

func TestInterruptionWhileWaiting(t *testing.T) {
	runStory(t, func(s *story) {
		orders, stock := s.service("orders"), s.service("stock")
		held := s.must(orders.mutex().Acquire(s.request(orders, "POST /orders")))
		waiting := s.inBackground(s.request(stock, "GET /stock"), stock.mutex().Acquire)
		s.answerConnectsAt(time.Second)
		s.srv.Session(stock.client.SessionID()).Cut()
		time.Sleep(3 * time.Second)
		s.release(held, 1500*time.Millisecond)
		s.release(<-waiting, 1500*time.Millisecond)
	})
}

func TestRevocation(t *testing.T) {
	runStory(t, func(s *story) {
		orders, stock := s.service("orders"), s.service("stock")
		held := s.must(orders.mutex(locks.WithRevocation()).Acquire(s.request(orders, "POST /orders")))
		time.Sleep(2 * time.Second)
		require.NoError(s, locks.Revoke(context.Background(), stock.client, held.Path()))
		<-held.Context().Done()
		time.Sleep(1500 * time.Millisecond)
		require.ErrorIs(s, held.Release(context.Background()), locks.ErrRevoked)
	})
}

func TestReentrancy(t *testing.T) {
	runStory(t, func(s *story) {
		orders := s.service("orders")
		mutex := orders.mutex()
		outer := s.must(mutex.Acquire(s.request(orders, "POST /orders")))
		time.Sleep(1500 * time.Millisecond)
		inner := s.must(mutex.Acquire(outer.Context()))
		s.release(inner, 1500*time.Millisecond)
		s.release(outer, 1500*time.Millisecond)
	})
}

func TestReadWrite(t *testing.T) {
	runStory(t, func(s *story) {
		orders, stock := s.service("orders"), s.service("stock")
		lock := func(v *service) *locks.InterProcessReadWriteLock {
			return locks.NewInterProcessReadWriteLock(v.client, "/locks/prices", locks.WithName("prices"))
		}
		writer := s.must(lock(orders).WriteLock().Acquire(s.request(orders, "PUT /prices")))
		reader := s.inBackground(s.request(stock, "GET /prices"), lock(stock).ReadLock().Acquire)
		downgraded := s.must(lock(orders).ReadLock().Acquire(writer.Context()))
		s.release(writer, 1500*time.Millisecond)
		s.release(<-reader, 1500*time.Millisecond)
		s.release(downgraded, 1500*time.Millisecond)
	})
}

func TestSemaphore(t *testing.T) {
	runStory(t, func(s *story) {
		orders, stock := s.service("orders"), s.service("stock")
		semaphore := func(v *service) *locks.InterProcessSemaphore {
			return locks.NewInterProcessSemaphore(v.client, "/locks/printers", locks.Limit(3),
				locks.WithName("printers"))
		}
		two := s.must(semaphore(orders).AcquireN(s.request(orders, "POST /print"), 2))
		request := s.request(stock, "POST /label")
		more := s.inBackground(request, func(ctx context.Context) (*locks.Lease, error) {
			return semaphore(stock).AcquireN(ctx, 2)
		})
		s.release(two, 2*time.Second)
		s.release(<-more, 1500*time.Millisecond)
	})
}

func TestMultiLock(t *testing.T) {
	runStory(t, func(s *story) {
		orders := s.service("orders")
		paths := []string{"/locks/b", "/locks/a"}
		lock := locks.NewInterProcessMultiLock(locks.SortedMutexes(orders.client, paths, locks.WithName("sku"))...)
		lease, err := lock.Acquire(s.request(orders, "POST /swap"))
		require.NoError(s, err)
		time.Sleep(1500 * time.Millisecond)
		require.NoError(s, lease.Release(context.Background()))
	})
}

func TestLocalHandOver(t *testing.T) {
	runStory(t, func(s *story) {
		orders := s.service("orders")
		mutex := orders.mutex(locks.WithReleasePolicy(locks.ReleasePolicy{MaxReuses: 10, HandOver: time.Minute}))
		first := s.must(mutex.Acquire(s.request(orders, "POST /orders")))
		second := s.inBackground(s.request(orders, "POST /orders"), mutex.Acquire)
		s.release(first, 1500*time.Millisecond)
		s.release(<-second, 1500*time.Millisecond)
	})
}

func TestForeignHolder(t *testing.T) {
	runStory(t, func(s *story) {
		stock := s.service("stock")
		const node = "/locks/sku-42/_c_3e5a60df-061d-4981-a166-73c06f3f53fc-lock-0000000000"
		require.NoError(s, s.srv.Create(node, []byte("10.0.0.3")))
		require.NoError(s, zkinside.Of(s.srv).SetSequence("/locks/sku-42", 1))
		waiting := s.inBackground(s.request(stock, "GET /stock"), stock.mutex().Acquire)
		time.Sleep(1500 * time.Millisecond)
		require.NoError(s, s.srv.Delete(node))
		s.release(<-waiting, 1500*time.Millisecond)
	})
}
