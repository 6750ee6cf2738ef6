package start

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/gocurator/curator/framework"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := framework.Connect(ctx, os.Getenv("ZOOKEEPER"),
		framework.WithServiceName("start"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if err := run(ctx, client); err != nil {
		log.Print(err)
	}
}
