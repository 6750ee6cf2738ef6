package locks_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := framework.Connect(ctx, os.Getenv("ZOOKEEPER"))
	if err != nil {
		log.Fatal(err) // says why the last attempt failed
	}
	defer client.Close()

	mutex := locks.NewInterProcessMutex(client, "/locks/nightly-report")
	if err := mutex.Do(ctx, writeReport); err != nil {
		log.Print(err) // says who holds the lock, and how many are ahead
	}
}

// writeReport runs in one process at a time. Its context ends when the lock can
// no longer be trusted, before the server gives the lock to the next process.
func writeReport(ctx context.Context) error {
	for page := 1; page <= 3 && ctx.Err() == nil; page++ {
		fmt.Println("wrote page", page)
	}
	return context.Cause(ctx) // nil, or for example "session lost"
}
