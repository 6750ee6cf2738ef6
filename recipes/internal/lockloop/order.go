package lockloop

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Contender is a child of the lock's path that belongs to the recipe.
type Contender struct {
	Node string // the child's name
	Kind string // which of the recipe's names it has, such as "lock-"
	Seq  int32  // its sequence number; negative after 2^31 creations under one parent
}

// Queue returns the contenders among a parent's children, in the order in which they are admitted. Children whose
// names are not the recipe's are left out: Curator sorts them in as text, where they may block everybody.
func Queue(children []string, kinds ...string) []Contender {
	var q []Contender
	for _, child := range children {
		if c, ok := parse(child, kinds); ok {
			q = append(q, c)
		}
	}
	slices.SortFunc(q, compare)
	return q
}

// parse reads a node name: protection or nothing, the recipe's name, and the number. Curator takes any prefix, and so
// counts nodes such as "deadlock-0000000000", too (standardFixForSorting).
func parse(child string, kinds []string) (Contender, bool) {
	for _, kind := range kinds {
		i := strings.LastIndex(child, kind)
		if i < 0 || !isProtection(child[:i]) {
			continue
		}
		if seq, ok := parseSequence(child[i+len(kind):]); ok {
			return Contender{Node: child, Kind: kind, Seq: seq}, true
		}
	}
	return Contender{}, false
}

// isProtection accepts Curator's prefix with its UUID, that of go-zookeeper's Lock, and none.
func isProtection(prefix string) bool {
	return prefix == "" || strings.HasPrefix(prefix, "_c_") && strings.HasSuffix(prefix, "-")
}

// parseSequence reads what a server appends to a sequential node: a signed number of 32 bits, padded with zeros to
// ten characters including the sign.
func parseSequence(s string) (int32, bool) {
	n, err := strconv.ParseInt(s, 10, 32)
	return int32(n), err == nil && s == fmt.Sprintf("%010d", n)
}

// compare orders by the distance between numbers, so that the number that follows 2147483647, which is -2147483648,
// comes after it. Equal numbers, which Curator gives to a downgraded reader and its writer, are ordered by kind and
// name to be the same for everybody.
func compare(a, b Contender) int {
	if d := a.Seq - b.Seq; d != 0 {
		return cmp.Compare(d, 0)
	}
	return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Node, b.Node))
}
