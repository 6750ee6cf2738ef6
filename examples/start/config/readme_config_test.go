package start

import (
	"context"
	"log"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/recipes/shared"
)

type settings struct {
	Workers int
}

func run(ctx context.Context, client *framework.Client) error {
	value, err := shared.NewValue(client, "/settings", codec.JSON[settings](), settings{Workers: 4})
	if err != nil {
		return err
	}
	defer value.Close()
	for now, err := range value.Changes(ctx) { // the first one is the present value
		if err != nil {
			log.Print("keeping the last settings: ", err)
			continue
		}
		log.Print("workers: ", now.Value.Workers)
	}
	return value.Err() // nil if the loop has ended with ctx
}
