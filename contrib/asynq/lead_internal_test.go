package asynq

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"
)

// Both are there at once: the answer, and the end of the leadership.
func TestAnswerAfterTheEndIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended, end := context.WithCancel(t.Context())
		end()
		for range 20 { // a select takes one of the two at random
			configs, err := provider{afterTheAnswer{ended}, answering{}}.GetConfigs()
			require.ErrorIs(t, err, context.Canceled)
			require.Empty(t, configs)
		}
	})
}

// afterTheAnswer is a context whose end is asked for when all others wait.
type afterTheAnswer struct{ context.Context }

func (c afterTheAnswer) Done() <-chan struct{} {
	synctest.Wait()
	return c.Context.Done()
}

type answering struct{}

func (answering) GetConfigs() ([]*asynq.PeriodicTaskConfig, error) {
	return []*asynq.PeriodicTaskConfig{{}}, nil
}
