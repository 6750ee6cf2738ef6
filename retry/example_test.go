package retry_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/retry"
)

func Example() {
	errBusy := errors.New("busy")
	isBusy := func(err error) bool { return errors.Is(err, errBusy) }

	calls := 0
	policy := retry.Exponential(time.Millisecond, time.Second, 3)
	err := retry.Do(context.Background(), policy, isBusy, func(context.Context) error {
		calls++
		if calls < 3 {
			return errBusy
		}
		return nil
	})
	fmt.Println(calls, err)
	// Output: 3 <nil>
}
