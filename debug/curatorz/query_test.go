package curatorz

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/debug/snapshot"
)

// crowd is a client that holds 1,000 locks, waits for 1,000 and watches them.
func crowd(path string) snapshot.Snapshot {
	s := fixture(path)
	c := &s.Clients[0]
	hold, wait, watch, event := c.Holds.Items[0], c.Waits.Items[0], c.Watches.Items[0], c.Events[2]
	c.Holds.Items, c.Waits.Items, c.Watches.Items, c.Events = nil, nil, nil, nil
	for i := range snapshot.MaxItems {
		hold.Path, wait.Path, watch.Path, event.Path = fmt.Sprint("/held/", i), fmt.Sprint("/wanted/", i), fmt.Sprint("/watched/", i), fmt.Sprint("/was/", i)
		hold.Since = s.Time.Add(-time.Duration(snapshot.MaxItems-i) * time.Second)
		c.Holds.Items = append(c.Holds.Items, hold)
		c.Waits.Items = append(c.Waits.Items, wait)
		c.Watches.Items = append(c.Watches.Items, watch)
		c.Events = append(c.Events, event)
	}
	c.Holds.Total, c.Waits.Total, c.Watches.Total = snapshot.MaxItems, 2*snapshot.MaxItems, snapshot.MaxItems
	return s
}

func TestPageOfManyIsShort(t *testing.T) {
	_, few := get(t, serve(crowd), "?path=a%26b", browser)
	_, all := get(t, serve(crowd), "?path=a%26b&all=1", browser)
	require.Less(t, len(few), len(all)/5)
	for text, shown := range map[string][2]bool{
		">/wanted/99<": {true, true}, ">/wanted/100<": {false, true}, ">/held/99<": {true, true}, ">/held/999<": {false, true},
		">/watched/100<": {false, true}, ">/was/999<": {true, true}, ">/was/0<": {false, true},
	} {
		require.Equal(t, shown[0], strings.Contains(few, text), text)
		require.Equal(t, shown[1], strings.Contains(all, text), text)
	}
	require.Contains(t, few, `100 of 1000 are shown. <a href="?all=1&amp;format=html&amp;path=a%26b">All</a>`)
	require.Contains(t, few, `100 of 2000 are shown. <a href="?all=1&amp;format=html&amp;path=a%26b">The first 1000</a>`)
	require.Contains(t, all, `1000 of 2000 are shown.</p>`)
	require.NotContains(t, few, "3 are shown", "short lists are whole")
}
