package framework

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/jute"
)

// These errors are the server's answers to a Reconfig, beside zk.ErrReconfigDisabled for an ensemble whose configuration
// does not have reconfigEnabled=true, zk.ErrBadVersion for another version than the one that was asked for,
// zk.ErrNoAuth, and zk.ErrBadArguments for a member that the server does not understand or that is in its way.
var (
	// ErrStandalone means that the server is no member of an ensemble, or is older than 3.5.
	ErrStandalone = errors.New("server is standalone")

	// ErrNoQuorum means that too few of the new members are connected and up to date.
	ErrNoQuorum error = &ServerError{Code: -13}

	// ErrReconfigInProgress means that another change is under way.
	ErrReconfigInProgress error = &ServerError{Code: -14}
)

// configPath is the node in which servers keep the configuration of the ensemble. No chroot applies to it.
const configPath = "/zookeeper/config"

// AnyConfig matches every version of an ensemble's configuration.
const AnyConfig int64 = -1

// EnsembleChange is what a Reconfig asks for: either some members to add and to remove, or the full list.
type EnsembleChange struct {
	Joining []Member // added, or changed if the ID is a member's
	Leaving []int64  // the IDs of members to remove
	Members []Member // the full list, if Joining and Leaving are empty
}

// Config returns the configuration of the ensemble, as its servers have it in /zookeeper/config. A server that runs alone,
// or is older than 3.5, has no members to tell.
func (c *Client) Config(ctx context.Context) (EnsembleConfig, error) {
	var config EnsembleConfig
	err := c.do(ctx, "config", configPath, func(ctx context.Context, s *Session) (err error) {
		config, err = getConfig(ctx, s, configPath)
		return err
	})
	return config, err
}

// Reconfig changes the members of the ensemble, if its configuration has the given version, and returns the new
// configuration. AnyConfig always matches. It needs the right to write /zookeeper/config, which only the super user has
// by default.
//
// See ErrStandalone and its neighbours for errors to match. If the connection breaks while the reply is awaited, which a
// change of the servers makes likely, a change of a given version is looked up: it counts as done if the configuration
// has another version and is as asked for, by IDs and addresses, and is repeated if it still has the old version.
// Otherwise, and if ctx ends while the reply is awaited, the error matches ErrOutcomeUnknown.
func (c *Client) Reconfig(ctx context.Context, change EnsembleChange, version int64) (EnsembleConfig, error) {
	r := reconfigAttempts{change: change, version: version}
	if err := change.validate(); err != nil {
		return EnsembleConfig{}, &OpError{"reconfig", configPath, err}
	}
	var config EnsembleConfig
	err := c.write(ctx, "reconfig", configPath, func(error) bool { return r.inDoubt }, func(ctx context.Context, s *Session) (err error) {
		config, err = r.attempt(ctx, s)
		return err
	})
	return config, err
}

func (ch *EnsembleChange) validate() error {
	incremental := len(ch.Joining)+len(ch.Leaving) > 0
	switch {
	case incremental && len(ch.Members) > 0:
		return fmt.Errorf("%w: a change has either Members, or Joining and Leaving", zk.ErrBadArguments)
	case !incremental && len(ch.Members) == 0:
		return fmt.Errorf("%w: an empty change", zk.ErrBadArguments)
	}
	for _, m := range slices.Concat(ch.Joining, ch.Members) {
		if len(m.Addresses) == 0 {
			return fmt.Errorf("%w: member %d has no address", zk.ErrBadArguments, m.ID)
		}
	}
	return nil
}

// reconfigAttempts are the attempts at one Reconfig.
type reconfigAttempts struct {
	change  EnsembleChange
	version int64
	inDoubt bool // an earlier attempt may have been applied
}

func (r *reconfigAttempts) attempt(ctx context.Context, s *Session) (EnsembleConfig, error) {
	if r.inDoubt {
		config, done, err := r.findOut(ctx, s)
		if done || err != nil {
			return config, err
		}
	}
	config, err := reconfig(ctx, s, &r.change, r.version)
	switch {
	case errors.Is(err, errUnimplemented):
		return config, fmt.Errorf("%w: %w", ErrStandalone, err)
	case ambiguous(err) && r.version == AnyConfig:
		return config, unknownOutcome(err)
	}
	r.inDoubt = r.inDoubt || ambiguous(err)
	return config, err
}

// findOut returns the configuration if an earlier attempt has led to it.
func (r *reconfigAttempts) findOut(ctx context.Context, s *Session) (config EnsembleConfig, done bool, err error) {
	config, err = afterSync(ctx, s, configPath, getConfig)
	switch {
	case err != nil:
		return EnsembleConfig{}, false, err
	case config.Version == r.version:
		r.inDoubt = false
		return EnsembleConfig{}, false, nil
	case !r.change.isDone(config):
		return EnsembleConfig{}, false, unknownOutcome(fmt.Errorf("configuration has version %x now", config.Version))
	}
	return config, true, nil
}

// isDone reports whether a configuration is what the change leads to.
func (ch *EnsembleChange) isDone(c EnsembleConfig) bool {
	for _, want := range slices.Concat(ch.Joining, ch.Members) {
		if m, ok := c.Member(want.ID); !ok || !slices.Equal(m.Addresses, want.Addresses) {
			return false
		}
	}
	for _, id := range ch.Leaving {
		if _, ok := c.Member(id); ok {
			return false
		}
	}
	return len(ch.Members) == 0 || len(ch.Members) == len(c.Members)
}

func getConfig(ctx context.Context, s *Session, path string) (EnsembleConfig, error) {
	r, err := getData(ctx, s, path)
	if err != nil {
		return EnsembleConfig{}, err
	}
	return ParseEnsembleConfig(r.data), nil
}

func reconfig(ctx context.Context, s *Session, ch *EnsembleChange, version int64) (EnsembleConfig, error) {
	leaving := make([]string, len(ch.Leaving))
	for i, id := range ch.Leaving {
		leaving[i] = strconv.FormatInt(id, 10)
	}
	return send(ctx, s, request[EnsembleConfig]{opReconfig, func(b []byte) []byte {
		for _, list := range []string{memberList(ch.Joining), strings.Join(leaving, ","), memberList(ch.Members)} {
			b = appendNullable(b, list)
		}
		return jute.AppendInt64(b, version)
	}, func(r *jute.Reader, _ int64) EnsembleConfig {
		config := ParseEnsembleConfig(r.Buffer())
		readStat(r)
		return config
	}}, nil)
}

// appendNullable appends a string, or null for an empty one: to the server, an empty list of members is a list.
func appendNullable(b []byte, s string) []byte {
	if s == "" {
		return jute.AppendBuffer(b, nil)
	}
	return jute.AppendString(b, s)
}

func memberList(members []Member) string {
	list := make([]string, len(members))
	for i, m := range members {
		list[i] = m.String()
	}
	return strings.Join(list, ",")
}
