package framework

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/reason"
)

// configPath is the node in which servers keep the configuration of the
// ensemble. No chroot applies to it.
const configPath = "/zookeeper/config"

// AnyConfig matches every version of an ensemble's configuration.
const AnyConfig int64 = -1

// EnsembleChange is what a Reconfig asks for: either some members to add and to
// remove, or the full list.
type EnsembleChange struct {
	Joining []Member // added, or changed if the ID is a member's
	Leaving []int64  // the IDs of members to remove
	Members []Member // the full list, if Joining and Leaving are empty
}

// Config returns the configuration of the ensemble, as its servers have it in
// /zookeeper/config. A server that runs alone, or is older than 3.5, has no
// members to tell.
func (c *Client) Config(ctx context.Context) (EnsembleConfig, error) {
	r, err := read(ctx, c, "config", configPath, proto.GetData(configPath, false))
	if err != nil {
		return EnsembleConfig{}, err
	}
	return parseEnsembleConfig(r.Data), nil
}

// Reconfig changes the members of the ensemble, if its configuration has the
// given version, and returns the new configuration. AnyConfig always matches.
// It needs the right to write /zookeeper/config, which only the super user has
// by default. See ErrStandalone and its neighbours for errors to match.
//
// A change of the servers makes it likely that the connection breaks while the
// reply is awaited. A change of a given version is looked up then. It counts as
// done if the configuration has another version and is as asked for, by IDs and
// addresses. It is repeated if the configuration still has the old version.
// Otherwise, and if ctx ends while the reply is awaited, the error matches
// ErrOutcomeUnknown. What Set says of a later session applies here, too.
func (c *Client) Reconfig(ctx context.Context, change EnsembleChange, version int64) (EnsembleConfig, error) {
	if err := change.validate(); err != nil {
		return EnsembleConfig{}, &OpError{"reconfig", configPath, err}
	}
	r := &reconfig{change, version}
	w := write[EnsembleConfig]{send: r.send, onLostReply: lookUp, resolve: r.resolve}
	if version == AnyConfig {
		w.onLostReply = giveUp
	}
	return w.do(ctx, c, "reconfig", configPath)
}

func (ch *EnsembleChange) validate() error {
	incremental := len(ch.Joining)+len(ch.Leaving) > 0
	switch {
	case incremental && len(ch.Members) > 0:
		return badArgument("change", memberList(ch.Members), "must have either Members, or Joining and Leaving")
	case !incremental && len(ch.Members) == 0:
		return badArgument("change", "", "must not be empty")
	}
	for _, m := range slices.Concat(ch.Joining, ch.Members) {
		if len(m.Addresses) == 0 {
			return badArgument("member", strconv.FormatInt(m.ID, 10), "must have an address")
		}
	}
	return nil
}

// reconfig is what a Reconfig asks for.
type reconfig struct {
	change  EnsembleChange
	version int64
}

func (r *reconfig) send(ctx context.Context, s *Session) (EnsembleConfig, error) {
	joining, leaving, members := r.change.lists()
	answer, err := send(ctx, s, proto.Reconfig(joining, leaving, members, r.version), nil)
	switch {
	case reason.Is(err, ErrUnimplemented):
		return EnsembleConfig{}, fmt.Errorf("%w: %w", ErrStandalone, err)
	case err != nil:
		return EnsembleConfig{}, err
	}
	return parseEnsembleConfig(answer.Data), nil
}

// resolve looks at the configuration.
func (r *reconfig) resolve(ctx context.Context, s *Session) (EnsembleConfig, bool, error) {
	now, err := afterQuorum(ctx, s, proto.GetData(configPath, false))
	if err != nil {
		return EnsembleConfig{}, false, err
	}
	config := parseEnsembleConfig(now.Data)
	switch {
	case config.Version == r.version:
		return EnsembleConfig{}, false, nil
	case !r.change.isDone(config):
		err := fmt.Errorf("configuration has version %x now", config.Version)
		return EnsembleConfig{}, false, unknownOutcome(err)
	}
	return config, true, nil
}

// isDone reports whether a configuration is what the change leads to.
func (ch *EnsembleChange) isDone(c EnsembleConfig) bool {
	for _, want := range slices.Concat(ch.Joining, ch.Members) {
		if m, ok := c.member(want.ID); !ok || !slices.Equal(m.Addresses, want.Addresses) {
			return false
		}
	}
	for _, id := range ch.Leaving {
		if _, ok := c.member(id); ok {
			return false
		}
	}
	return len(ch.Members) == 0 || len(ch.Members) == len(c.Members)
}

// lists returns the change as the request has it.
func (ch *EnsembleChange) lists() (joining, leaving, members string) {
	ids := make([]string, len(ch.Leaving))
	for i, id := range ch.Leaving {
		ids[i] = strconv.FormatInt(id, 10)
	}
	return memberList(ch.Joining), strings.Join(ids, ","), memberList(ch.Members)
}

func memberList(members []Member) string {
	list := make([]string, len(members))
	for i, m := range members {
		list[i] = m.String()
	}
	return strings.Join(list, ",")
}
