package framework_test

import (
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// faulty is a hook that was made with an option that cannot be used.
type faulty struct{ idle }

var errFaulty = errors.New("faulty")

func (faulty) Err() error { return errFaulty }

func TestHookWithoutAMethodIsRefused(t *testing.T) {
	type misspelt struct{}
	_, err := framework.New("zk1", framework.WithHooks(idle{}, misspelt{}))
	require.ErrorIs(t, err, zk.ErrBadArguments)
	require.ErrorContains(t, err, "misspelt")
	require.ErrorContains(t, err, "has no method for an event")
	_, err = framework.New("zk1", framework.WithHooks(nil))
	requireConfigError(t, err, "hook")
	_, err = framework.New("zk1", framework.WithHooks(faulty{}, misspelt{}))
	require.Equal(t, errFaulty, err)
}
