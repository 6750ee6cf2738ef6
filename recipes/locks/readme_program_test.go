package locks_test

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	client, err := framework.Connect(ctx, os.Getenv("ZOOKEEPER"), framework.WithServiceName("report"))
	if err != nil {
		log.Fatal(err) // says why the last attempt failed
	}
	defer client.Close()
	if err := nightlyReport(ctx, client); err != nil {
		log.Print(err)
	}
}

// nightlyReport writes thirty pages, in one process at a time.
func nightlyReport(ctx context.Context, client *framework.Client) error {
	mutex := locks.NewInterProcessMutex(client, "/locks/nightly-report")
	lease, err := mutex.TryAcquire(ctx)
	if errors.Is(err, locks.ErrNotAcquired) {
		log.Print("waiting: ", err) // err names the holder
		lease, err = mutex.Acquire(ctx)
	}
	if err != nil {
		return err
	}
	defer lease.Release(ctx) // works even if ctx is done

	work, done := lease.WithContext(ctx) // done when the lock is lost, or with ctx
	defer done()
	for page := range 30 {
		select {
		case <-time.After(time.Second):
			log.Print("wrote page ", page+1)
		case <-work.Done():
			return context.Cause(work) // "session lost", for example
		}
	}
	return nil
}
