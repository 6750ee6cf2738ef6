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
// reply is awaited. The error then matches ErrOutcomeUnknown, and Config tells
// what the configuration is.
func (c *Client) Reconfig(ctx context.Context, change EnsembleChange, version int64) (EnsembleConfig, error) {
	if err := change.validate(); err != nil {
		return EnsembleConfig{}, &OpError{"reconfig", configPath, err}
	}
	joining, leaving, members := change.lists()
	q := proto.Reconfig(joining, leaving, members, version)
	w := write[EnsembleConfig]{send: func(ctx context.Context, s *Session) (EnsembleConfig, error) {
		answer, err := send(ctx, s, q, nil)
		if reason.Is(err, ErrUnimplemented) {
			err = fmt.Errorf("%w: %w", ErrStandalone, err)
		}
		if err != nil {
			return EnsembleConfig{}, err
		}
		return parseEnsembleConfig(answer.Data), nil
	}}
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
