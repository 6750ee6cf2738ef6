package curatorz

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A page of ten thousand locks takes megabytes while it is made. So a crowd of
// readers waits, and those who have gone get none.
func TestFewPagesAreMadeAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most, made atomic.Int64
		h := serve(func() moment {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			made.Add(1)
			return moment{}
		})
		ask := func(ctx context.Context) {
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx))
		}
		gone, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		for range 10 {
			go ask(t.Context())
		}
		synctest.Wait()
		for range 10 {
			go ask(gone)
		}
		time.Sleep(time.Minute)
		require.EqualValues(t, mostAtATime, most.Load())
		require.EqualValues(t, 10, made.Load())
	})
}

// crowd is a client that holds 2,000 locks, and has as many events.
func crowd() moment {
	s := inGoodOrder()
	hold, e := s.locks[0], s.events[2]
	s.locks, s.events = nil, nil
	for i := range 2 * mostItems {
		hold.path, hold.granted = fmt.Sprint("/held/", i), fixtureTime.Add(time.Duration(i-10_000)*time.Second)
		e.path = fmt.Sprint("/was/held/", 2*mostItems-1-i)
		s.locks, s.events = append(s.locks, hold), append(s.events, e)
	}
	return moment{fixtureTime, []source{s}}
}

func TestPageOfManyIsShort(t *testing.T) {
	_, few := get(t, serve(crowd), "?path=held", browser)
	_, all := get(t, serve(crowd), "?path=held&all=1", browser)
	require.Less(t, len(few), len(all)/5)
	for text, shown := range map[string][2]bool{
		">/held/99 ": {true, true}, ">/held/100 ": {false, true}, ">/held/999 ": {false, true}, ">/held/1000 ": {false, false},
		">/was/held/1999 ": {true, true}, ">/was/held/1899 ": {false, true}, ">/was/held/0 ": {false, false},
	} {
		few, all := strings.ReplaceAll(few, "<", " "), strings.ReplaceAll(all, "<", " ")
		require.Equal(t, shown[0], strings.Contains(few, text), text)
		require.Equal(t, shown[1], strings.Contains(all, text), text)
	}
	require.Contains(t, few, `100 of 2000 are shown. <a href="?all=1&amp;format=html&amp;path=held">More</a>`)
	require.Contains(t, all, `1000 of 2000 are shown.</p>`)
}

// A filter finds what is beyond the lists' length. Events of the connection, which
// have no path, stay.
func TestFilterFindsOneLockAmongMany(t *testing.T) {
	m := crowd()
	m.clients[0].events = append(m.clients[0].events, event{at: fixtureTime, name: "client", text: "closed"})
	c := documentOf(m, query{Path: "/held/1234"}).Clients[0]
	require.Equal(t, [][]string{{"/held/1234"}}, cells(c, "holds", 1))
	require.Len(t, cells(c, "events", 4), 2)
	for _, name := range []string{"waits", "registrations", "caches", "watches"} {
		require.Empty(t, cells(c, name, 1), name)
	}
	require.NotEmpty(t, cells(c, "servers", 1), "servers have no path")
}
