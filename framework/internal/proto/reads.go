package proto

import (
	"bytes"

	"github.com/gocurator/curator/framework/internal/jute"
)

// Data is the answer to GetData.
type Data struct {
	Data []byte
	Stat *Stat
}

// GetData asks for a node's data, and sets a data watch if watch is true.
func GetData(path string, watch bool) Request[Data] {
	return Request[Data]{Op: OpGetData, Append: pathAndWatch(path, watch), read: readData}
}

func readData(_ createdPath, body []byte, _ int64) (Data, bool) {
	r := jute.NewReader(body)
	d := Data{bytes.Clone(r.Buffer()), readStat(r)}
	return d, !r.Bad()
}

// Exists asks for a node's Stat, which is nil if the node does not exist. If watch is
// true, Exists sets a data watch; for a missing node, that is a watch for its creation.
func Exists(path string, watch bool) Request[*Stat] {
	return Request[*Stat]{
		Op: OpExists, Append: pathAndWatch(path, watch), NoNodeIsAnswer: true, read: readStatAnswer,
	}
}

// ChildrenAnswer is the answer to Children.
type ChildrenAnswer struct {
	Names []string
	Stat  *Stat
}

// Children asks for the names of a node's children, and sets a child watch if
// watch is true.
func Children(path string, watch bool) Request[ChildrenAnswer] {
	return Request[ChildrenAnswer]{Op: OpGetChildren2, Append: pathAndWatch(path, watch), read: readChildren}
}

func readChildren(_ createdPath, body []byte, _ int64) (ChildrenAnswer, bool) {
	r := jute.NewReader(body)
	a := ChildrenAnswer{readNames(r), readStat(r)}
	return a, !r.Bad()
}

// ChildNames is Children without a Stat and without a watch, for callers that keep the
// names only briefly.
func ChildNames(path string) Request[[]string] {
	return Request[[]string]{Op: OpGetChildren2, Append: pathAndWatch(path, false), read: readChildNames}
}

// maxShared is the length of the longest answer whose names share their memory: a
// caller that keeps one name keeps the memory of all.
const maxShared = 4 << 10

func readChildNames(_ createdPath, body []byte, _ int64) ([]string, bool) {
	r := jute.NewReader(body)
	if len(body) > maxShared {
		names := readNames(r)
		return names, !r.Bad()
	}
	names, text := make([]string, r.Count(shortestName)), string(body[:max(0, len(body)-statSize)])
	for i := range names {
		n := len(r.Buffer())
		end := len(body) - len(r.Rest())
		if end > len(text) { // no Stat follows
			return nil, false
		}
		names[i] = text[end-n : end]
	}
	return names, !r.Bad()
}

const shortestName = 4 // its length

func readNames(r *jute.Reader) []string {
	names := make([]string, r.Count(shortestName))
	for i := range names {
		names[i] = r.String()
	}
	return names
}

// ACLAnswer is the answer to GetACL.
type ACLAnswer struct {
	ACL  []ACL
	Stat *Stat
}

// GetACL asks for a node's access control list.
func GetACL(path string) Request[ACLAnswer] {
	return Request[ACLAnswer]{Op: OpGetACL, Append: onlyPath(path), read: readACLAnswer}
}

func readACLAnswer(_ createdPath, body []byte, _ int64) (ACLAnswer, bool) {
	r := jute.NewReader(body)
	a := ACLAnswer{readACL(r), readStat(r)}
	return a, !r.Bad()
}

// Sync asks the server to catch up with its leader. The answer is the path.
func Sync(path string) Request[string] {
	return Request[string]{Op: OpSync, Append: onlyPath(path), read: readPath}
}

func onlyPath(path string) func([]byte) []byte {
	return func(b []byte) []byte { return jute.AppendString(b, path) }
}

func pathAndWatch(path string, watch bool) func([]byte) []byte {
	return func(b []byte) []byte { return jute.AppendBool(jute.AppendString(b, path), watch) }
}
