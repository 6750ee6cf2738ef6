package lockloop

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// The answer to the creation of a node may be handled late, when there is news
// of a writer behind that node. Who follows such news waits for itself.
//
// Promise: A reader does not wait for a writer that queued after it.
func TestNewsIsForThoseBehindItsNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the news stays fresh
		readers := func(_, ahead string) bool { return ahead == "w-" }
		reader := func(seq int32) Entry { return Entry{Node: "r-", Kind: "r-", Seq: seq} }
		crowd := &Crowd{}
		b, _ := crowd.share("w")
		crowd.tell(b, Entry{Node: "w", Kind: "w-", Seq: 5}, NotAdmitted{Seen: time.Now(), Holder: "w"}, 6)
		for seq, follows := range map[int32]bool{4: false, 6: true, -1: false} {
			got, seen, stop := crowd.follow(reader(seq), readers)
			require.Equal(t, follows, got != nil, seq)
			if follows {
				require.Equal(t, 6, seen.Ahead)
				stop()
			}
		}
	})
}

// Two contenders look one after the other, and tell of that in another order. The
// newest look is the news.
func TestOlderLookIsNoNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the news stays fresh
		crowd := &Crowd{}
		b, _ := crowd.share("w")
		at, entry := time.Now(), Entry{Node: "w", Kind: "w-", Seq: 5}
		crowd.tell(b, entry, NotAdmitted{Seen: at, Holder: "w"}, 6)
		crowd.tell(b, entry, NotAdmitted{Seen: at.Add(-time.Millisecond), Holder: "gone"}, 9)
		_, seen, stop := crowd.follow(Entry{Node: "r-", Kind: "r-", Seq: 7}, Exclusive)
		defer stop()
		require.Equal(t, "w", seen.Holder)
		require.Equal(t, 6, seen.Ahead)
	})
}
