package barriers

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// rounds are the rounds that are under way. They are the data of the barrier's
// node. A round is dropped some time after its last member has gone.
type rounds []round

// round has the names of a round's members, in order.
type round struct {
	Members []string `json:"members"`
	Left    []string `json:"left,omitempty"` // those who did not wait for the others to leave, and some who have marked their nodes
}

// inNode is the JSON form of rounds.
type inNode struct {
	V      int    `json:"v"`
	Rounds rounds `json:"rounds"`
}

const version = 1

// readRounds decodes the data of the barrier's node. A member that is named
// twice is not of this package, and could never be deleted as often.
func readRounds(data []byte) (rounds, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var in inNode
	if json.Unmarshal(data, &in) != nil || in.V != version || in.Rounds.nameTwice() {
		return nil, ErrForeignData
	}
	return in.Rounds, nil
}

func (r rounds) nameTwice() bool {
	all := r.members()
	return len(set(all)) < len(all)
}

// members returns the members of all rounds.
func (r rounds) members() (names []string) {
	for _, one := range r {
		names = append(names, one.Members...)
	}
	return names
}

func (r rounds) encode() []byte {
	data, _ := json.Marshal(inNode{V: version, Rounds: r}) // strings never fail
	return data
}

// of returns the round that a member is in. It has no members if there is none.
func (r rounds) of(name string) round {
	for _, one := range r {
		if slices.Contains(one.Members, name) {
			return one
		}
	}
	return round{}
}

// withLeft returns the rounds after members have left, in the order in which
// they are given.
func (r rounds) withLeft(names ...string) rounds {
	after := slices.Clone(r)
	for i, one := range after {
		members, noted := set(one.Members), set(one.Left)
		after[i].Left = slices.Clone(one.Left)
		for _, name := range names {
			if members[name] && !noted[name] {
				noted[name] = true
				after[i].Left = append(after[i].Left, name)
			}
		}
	}
	return after
}

// alive returns the rounds of which a member is there.
func (r rounds) alive(names []string) rounds {
	there := set(names)
	return slices.DeleteFunc(slices.Clone(r), func(one round) bool {
		return !slices.ContainsFunc(one.Members, there.has)
	})
}

// waiting returns the members that are there and in no round, in order. If an
// entry has several nodes, only its newest counts.
func (r rounds) waiting(names []string) []string {
	return slices.DeleteFunc(newest(those(names, isMember)), set(r.members()).has)
}

// newest returns the newest node of each entry, in order.
func newest(names []string) []string {
	of := map[string]string{}
	for _, name := range names {
		entry, attempt := splitAttempt(name)
		other, known := of[entry]
		if _, before := splitAttempt(other); !known || attempt > before {
			of[entry] = name
		}
	}
	return slices.Sorted(maps.Values(of))
}

// memberPrefix begins the names of members in our own layout. The time of the
// Enter follows it, which puts the members in order. The number of the attempt
// is at the end.
const memberPrefix = "m-"

func isMember(name string) bool {
	_, attempt := splitAttempt(name)
	return strings.HasPrefix(name, memberPrefix) && attempt > 0
}

// splitAttempt splits the name of a member's node. The attempts of an entry count
// from 1. A name that has no such number is an entry of its own.
func splitAttempt(name string) (entry string, attempt int) {
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		if attempt, err := strconv.Atoi(name[dot+1:]); err == nil && attempt > 0 {
			return name[:dot], attempt
		}
	}
	return name, 0
}

// resignPrefix begins the name of the node of a member that resigns. The name
// of the member follows it.
const resignPrefix = "left-"

// resigning returns the members that tell by a node that they resign.
func resigning(names []string) (members []string) {
	for _, name := range names {
		if member, ok := strings.CutPrefix(name, resignPrefix); ok {
			members = append(members, member)
		}
	}
	return members
}

// stringSet is a set of names.
type stringSet map[string]bool

func set(names []string) stringSet {
	s := make(stringSet, len(names))
	for _, name := range names {
		s[name] = true
	}
	return s
}

func (s stringSet) has(name string) bool { return s[name] }

// but returns the names without some.
func but(names []string, without ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), set(without).has)
}

// those returns the names that are wanted, in the same order.
func those(names []string, wanted func(name string) bool) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !wanted(name) })
}
