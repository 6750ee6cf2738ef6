package zkwatcher

import (
	"crypto/sha256"
	"fmt"

	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/recipes/shared"
)

// change is the data of the node: the last change of the policy.
type change struct {
	By     string `json:"by"`     // the Watcher that tells of it
	Number int    `json:"number"` // counts the changes of that Watcher

	// Before is the last change of another Watcher before this one. By it, the
	// Watcher that has told of this one knows whether it has missed that.
	Before string `json:"before"`
}

// id is a name that no other change of a Watcher has. What somebody else writes
// has the same name whenever it is the same.
func (c change) id() string { return fmt.Sprintf("%s/%d", c.By, c.Number) }

// foreign is the last change of another Watcher than the one with this id.
func (c change) foreign(watcher string) string {
	if c.By == watcher {
		return c.Before
	}
	return c.id()
}

// longest bounds what a Watcher takes over from a change of somebody else's. Its
// own are shorter. Without it, one that hardly fits into a request would keep
// every Watcher from telling of the next.
const longest = 128

// changes is JSON, and takes whatever somebody else may write for a change,
// such as an operator who wants the policy to be loaded again.
func changes() codec.Codec[change] {
	lenient := codec.JSON[change]()
	strict := lenient.Decode
	lenient.Decode = func(data []byte) (change, error) {
		c, err := strict(data)
		if err != nil || len(c.By) > longest || len(c.Before) > 2*longest { // an id is longer than By
			c = change{By: fmt.Sprintf("%x", sha256.Sum256(data))}
		}
		return c, nil
	}
	return lenient
}

// next returns what a Watcher writes over what is there.
func (w *Watcher) next(old change) (change, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.number++
	return change{By: w.id, Number: w.number, Before: old.foreign(w.id)}, nil
}

// known is what a Watcher has called back for.
type known struct {
	foreign string // the last change of another Watcher
	number  int    // counts the own changes
	czxid   int64  // the node: in another one, nothing is known of the changes before
}

// isNews reports whether there was a change of another Watcher since. What this
// Watcher has written may stand for one that was overwritten before it was
// read. The numbers of its changes grow. One whose number does not was written
// by somebody else, who has copied it.
func (w *Watcher) isNews(now shared.Versioned[change], last known) (next known, news bool) {
	next = known{now.Value.foreign(w.id), last.number, now.Czxid}
	isOwn := now.Exists && now.Value.By == w.id && now.Value.Number > last.number
	if isOwn {
		next.number = now.Value.Number
	}
	hasMissed := next.foreign != last.foreign || next.czxid != last.czxid
	return next, !isOwn || w.withOwn || hasMissed
}
