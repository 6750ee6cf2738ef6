package main

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"strconv"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/locks"
)

var limitCommand = &command{
	Name:    "limit",
	Purpose: "show or set the shared limit of semaphores",
	Usage:   "[flags] PATH [N]",
	MinArgs: 1,
	MaxArgs: 2,
	Long: `
PATH is the node of the limit, as given to locks.SharedLimit or to Java's
SharedCount, and not the semaphore's. Those who wait hear of a new limit. With a
lower one nobody loses a lease, and with 0 nobody gets one. A node that does not
exist is created.

  zklock limit /jobs/import-limit 4
`,
	Define: func(*flag.FlagSet) action { return runLimit },
}

func runLimit(ctx context.Context, e *env) error {
	n := -1
	if len(e.args) > 1 {
		var err error
		if n, err = strconv.Atoi(e.args[1]); err != nil || n < 0 {
			return usagef("limit: %q is no number of leases", e.args[1])
		}
	}
	c, err := e.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	path := e.args[0]
	if n >= 0 {
		if _, err := readLimit(ctx, c, path); err != nil && !errors.Is(err, errNoLimit) {
			return err // other data is not written over
		}
		if err := locks.SetSharedLimit(ctx, c, path, n); err != nil {
			return err
		}
	} else if n, err = readLimit(ctx, c, path); err != nil {
		return err
	}
	if e.isJSON() {
		return e.writeJSON(struct {
			Path  string `json:"path"`
			Limit int    `json:"limit"`
		}{path, n})
	}
	_, err = fmt.Fprintln(e.out, n)
	return err
}

var errNoLimit = errors.New("there is no limit")

// readLimit reads a limit as Java's SharedCount writes it.
func readLimit(ctx context.Context, c *framework.Client, path string) (int, error) {
	data, _, err := c.Get(ctx, path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return 0, statusError{refused, fmt.Errorf("%s: %w", printable.String(path), errNoLimit)}
	case err != nil:
		return 0, err
	case len(data) != 4:
		return 0, statusError{refused, fmt.Errorf("%s: %d bytes are no limit", printable.String(path), len(data))}
	}
	return int(int32(binary.BigEndian.Uint32(data))), nil
}
