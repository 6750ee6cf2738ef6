package datatree

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A quota is data in the tree. The limits for /a/b are the data of
// /zookeeper/quota/a/b/zookeeper_limits, and the server keeps the number of
// nodes and of bytes at and below /a/b in /zookeeper/quota/a/b/zookeeper_stats.
// Both are written by clients first, limits before stats. If there are several
// quotas for a path, the deepest counts.

const (
	quotaRoot  = "/zookeeper/quota"
	quotaLimit = "zookeeper_limits"
	quotaStats = "zookeeper_stats"
)

// quotaUsage is what there is, or may be, below a path.
type quotaUsage struct{ nodes, bytes int64 }

// account keeps the books of one change at path and returns how to undo it.
func (t *Tree) account(path string, bytes, nodes int) (undo func()) {
	if len(t.quotas) == 0 && !strings.HasPrefix(path, quotaRoot) {
		return nothing
	}
	if nodes > 0 {
		t.openBooks(path)
	}
	return t.charge(path, int64(bytes), int64(nodes))
}

// openBooks fills fresh stats in with what there is already.
func (t *Tree) openBooks(path string) {
	subject, name := quotaNode(path)
	if name != quotaStats {
		return
	}
	var u quotaUsage
	t.Walk(subject, func(_ string, n *Node) {
		u.nodes++
		u.bytes += int64(len(n.Data))
	})
	t.nodes[path].Data = u.encode()
}

func nothing() {}

// quotaNode takes the path of a limit or stats node apart. The name of any
// other node is "". There is no quota for the root.
func quotaNode(path string) (subject, name string) {
	rest, below := strings.CutPrefix(path, quotaRoot+"/")
	if !below {
		return "", ""
	}
	subject, name = ParentOf("/"+rest), baseOf(path)
	if subject == "/" || name != quotaLimit && name != quotaStats {
		return "", ""
	}
	return subject, name
}

// quotaOf returns the path of the deepest quota that path is under, "" if there
// is none.
func (t *Tree) quotaOf(path string) string {
	if len(t.quotas) == 0 {
		return ""
	}
	for ; path != "/"; path = ParentOf(path) {
		if _, found := t.quotas[path]; found {
			return path
		}
	}
	return ""
}

// Quotas returns the paths that have limits, sorted.
func (t *Tree) Quotas() []string { return slices.Sorted(maps.Keys(t.quotas)) }

// charge changes the stats of the quota that path is under. That is no change
// of the stats node for its version or for those who watch it.
func (t *Tree) charge(path string, bytes, nodes int64) (undo func()) {
	subject := t.quotaOf(path)
	stats := t.nodes[quotaRoot+subject+"/"+quotaStats]
	if subject == "" || stats == nil {
		return nothing
	}
	old := stats.Data
	values := parseQuota(old)
	values.set("count", values.get("count")+nodes)
	values.set("bytes", values.get("bytes")+bytes)
	stats.Data = values.encode()
	return func() { stats.Data = old }
}

// withinQuota reports whether there is room for so much more under the hard
// limits, and notes that it is used. As on a real server the operations of one
// multi are each compared with what there was before the multi.
func (tx *Txn) withinQuota(path string, bytes, nodes int) bool {
	if !tx.EnforceQuotas {
		return true
	}
	subject := tx.Tree.quotaOf(path)
	limits, stats := tx.Tree.nodes[quotaRoot+subject+"/"+quotaLimit], tx.Tree.nodes[quotaRoot+subject+"/"+quotaStats]
	if subject == "" || limits == nil || stats == nil {
		return true
	}
	limit, used, charged := parseQuota(limits.Data), parseQuota(stats.Data), tx.charged[subject]
	exceeded := func(key string, used, more int64) bool {
		hard := limit.get(key)
		return more != 0 && hard > -1 && used+more > hard
	}
	if exceeded("countHardLimit", used.get("count")-charged.nodes, int64(nodes)) ||
		exceeded("byteHardLimit", used.get("bytes")-charged.bytes, int64(bytes)) {
		return false
	}
	if tx.charged == nil {
		tx.charged = make(map[string]quotaUsage)
	}
	tx.charged[subject] = quotaUsage{charged.nodes + int64(nodes), charged.bytes + int64(bytes)}
	return true
}

// quotaValues is the data of a limit or stats node: count=1,bytes=2 and further
// values.
type quotaValues map[string]int64

// parseQuota leaves out what is not of the form key=number.
func parseQuota(data []byte) quotaValues {
	values := make(quotaValues)
	for pair := range strings.FieldsFuncSeq(string(data), func(r rune) bool { return r == ',' || r == ';' }) {
		key, rest, _ := strings.Cut(pair, "=")
		number, _, _ := strings.Cut(rest, "=") // bytes=5= keeps old servers from reading on
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			values[key] = n
		}
	}
	return values
}

// get returns -1, which means "no limit" and "not counted yet", for what is
// missing.
func (v quotaValues) get(key string) int64 {
	if n, found := v[key]; found {
		return n
	}
	return -1
}

func (v quotaValues) set(key string, n int64) { v[key] = n }

// encode writes count and bytes first, as the oldest servers did.
func (v quotaValues) encode() []byte {
	text := fmt.Sprintf("count=%d,bytes=%d", v.get("count"), v.get("bytes"))
	separator := "=;"
	for _, key := range slices.Sorted(maps.Keys(v)) {
		if key == "count" || key == "bytes" {
			continue
		}
		text += fmt.Sprintf("%s%s=%d", separator, key, v[key])
		separator = ";"
	}
	return []byte(text)
}

func (u quotaUsage) encode() []byte {
	return quotaValues{"count": u.nodes, "bytes": u.bytes}.encode()
}
