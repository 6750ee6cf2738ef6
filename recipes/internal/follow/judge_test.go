package follow

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// Promise: A lost session is not taken for a refusal.
func TestWhatFollowsAnError(t *testing.T) {
	reached := map[string]bool{} // reasons of rows that decide about an error here
	for name, c := range map[string]struct {
		err  error
		want Reaction
	}{
		"closed":                         {framework.ErrClosed, End},
		"session lost":                   {framework.ErrSessionLost, NextSession},
		"session lost with a write":      {fmt.Errorf("%w: %w", framework.ErrOutcomeUnknown, framework.ErrSessionLost), NextSession},
		"credentials refused":            {fmt.Errorf("%w: %w", framework.ErrNotConnected, zk.ErrAuthFailed), End},
		"parent missing":                 {zk.ErrNoNode, Failure},
		"not connected":                  {framework.ErrNotConnected, Outage},
		"connection broken":              {zk.ErrConnectionClosed, Outage},
		"throttled for too long":         {&framework.ServerError{Code: -127}, Outage},
		"outcome of a write unknown":     {framework.ErrOutcomeUnknown, Outage},
		"write at which a server failed": {fmt.Errorf("%w: %w", framework.ErrOutcomeUnknown, &framework.ServerError{Code: -1}), Failure},
		"no rights":                      {zk.ErrNoAuth, End},
		"path that is none":              {zk.ErrInvalidPath, End},
		"too large":                      {framework.ErrRequestTooLarge, End},
		"server out of order":            {&framework.ServerError{Code: -1}, Failure},
		"code that nobody knows":         {&framework.ServerError{Code: -77}, Failure},
		"user's code has given an error": {errors.New("some other"), Failure},
	} {
		t.Run(name, func(t *testing.T) {
			err := &framework.OpError{Op: "get", Path: "/n", Err: c.err}
			require.Equal(t, c.want, Judge(err))
			if row := slices.IndexFunc(judgments, func(j judgment) bool { return j.matches(err) }); row >= 0 {
				reached[judgments[row].why] = true
			}
		})
	}
	require.Len(t, reached, len(judgments), "each row is needed, and has a reason of its own")
}
