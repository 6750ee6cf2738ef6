package barriers

import (
	"bytes"
	"encoding/json"
	"slices"
)

// rounds are the rounds that are under way: each has the names of its members,
// in order. They are the data of the barrier's node. A round is dropped some
// time after its last member has gone.
type rounds [][]string

// inNode is the JSON form of rounds.
type inNode struct {
	V      int    `json:"v"`
	Rounds rounds `json:"rounds"`
}

const version = 1

func readRounds(data []byte) (rounds, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var in inNode
	if !bytes.HasPrefix(data, []byte("{")) || json.Unmarshal(data, &in) != nil || in.V != version {
		return nil, ErrForeignData
	}
	return in.Rounds, nil
}

func (r rounds) encode() []byte {
	data, _ := json.Marshal(inNode{V: version, Rounds: r}) // strings never fail
	return data
}

// of returns the round that a member is in, or nil.
func (r rounds) of(name string) []string {
	for _, members := range r {
		if slices.Contains(members, name) {
			return members
		}
	}
	return nil
}

// without returns the rounds without one member.
func (r rounds) without(name string) rounds {
	var left rounds
	for _, members := range r {
		members = slices.DeleteFunc(slices.Clone(members), func(m string) bool { return m == name })
		if len(members) > 0 {
			left = append(left, members)
		}
	}
	return left
}

// alive returns the rounds of which a member is there.
func (r rounds) alive(names []string) rounds {
	there := set(names)
	return slices.DeleteFunc(slices.Clone(r), func(members []string) bool {
		return !slices.ContainsFunc(members, there.has)
	})
}

// waiting returns the members that are there and in no round, in order.
func (r rounds) waiting(names []string) []string {
	in := stringSet{}
	for _, members := range r {
		for _, m := range members {
			in[m] = struct{}{}
		}
	}
	var waiting []string
	for _, name := range names {
		if isMember(name) && !in.has(name) {
			waiting = append(waiting, name)
		}
	}
	slices.Sort(waiting)
	return waiting
}

func isMember(name string) bool {
	return len(name) > len(memberPrefix) && name[:len(memberPrefix)] == memberPrefix
}

// stringSet is a set of names.
type stringSet map[string]struct{}

func set(names []string) stringSet {
	s := make(stringSet, len(names))
	for _, name := range names {
		s[name] = struct{}{}
	}
	return s
}

func (s stringSet) has(name string) bool {
	_, there := s[name]
	return there
}
