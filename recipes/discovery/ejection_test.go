package discovery_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

var errFailed = errors.New("failed")

// fail makes an instance fail until it is out, if it may be: it is picked until
// it has failed five times.
func fail(t *testing.T, p *discovery.Picker, id string) {
	t.Helper()
	failTimes(t, p, id, 5)
}

func failTimes(t *testing.T, p *discovery.Picker, id string, times int) {
	t.Helper()
	for range 10_000 {
		if times == 0 {
			return
		}
		i, request, err := p.Pick()
		require.NoError(t, err)
		if i.ID != id {
			request.Done(nil)
			continue
		}
		request.Done(errFailed)
		times--
	}
	t.Fatalf("%s was not picked", id)
}

func requireIn(t *testing.T, p *discovery.Picker, ids ...string) {
	t.Helper()
	var got []string
	for id := range counted(t, p, 100) {
		got = append(got, id)
	}
	require.ElementsMatch(t, ids, got)
}

func TestInstanceThatFailsIsTakenOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPicker(t, discovery.RoundRobin(), some(3))
		failTimes(t, p, "1", 4)
		requireIn(t, p, "0", "1", "2") // its successes begin the count again
		failTimes(t, p, "1", 4)
		requireIn(t, p, "0", "1", "2")
		fail(t, p, "1")
		requireIn(t, p, "0", "2")
		time.Sleep(10*time.Second - 1)
		requireIn(t, p, "0", "2")
		time.Sleep(time.Nanosecond)
		requireIn(t, p, "0", "1", "2")
	})
}

// Java's window begins with the first error, and an instance is out for anything
// from nothing to one and a half windows.
func TestPauseGrowsAndStartsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPicker(t, discovery.RoundRobin(), some(3), discovery.WithEjection(2, time.Second, 5*time.Second))
		for _, pause := range []time.Duration{1, 2, 4, 5, 5} {
			failTimes(t, p, "1", 2)
			time.Sleep(pause*time.Second - 1)
			requireIn(t, p, "0", "2")
			time.Sleep(time.Nanosecond)
			requireIn(t, p, "0", "1", "2")
		}
		time.Sleep(5*time.Second - 1)
		failTimes(t, p, "1", 2)
		time.Sleep(5 * time.Second)
		requireIn(t, p, "0", "1", "2")
		time.Sleep(5 * time.Second)
		failTimes(t, p, "1", 2)
		time.Sleep(time.Second)
		requireIn(t, p, "0", "1", "2")
	})
}

// If most instances fail, the cause is likely somewhere else.
func TestHalfOfTheInstancesStayIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for n := 1; n <= 9; n++ {
			p := newPicker(t, discovery.RoundRobin(), some(n))
			for range 100 * n {
				_, request, err := p.Pick()
				require.NoError(t, err)
				request.Done(errFailed)
			}
			require.Len(t, counted(t, p, 100), n-n/2)
		}
	})
}

// One that had to stay in goes out when another one is back.
func TestInstanceThatGoesOnFailingIsTakenOutLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPicker(t, discovery.RoundRobin(), some(2))
		fail(t, p, "0")
		failTimes(t, p, "1", 7)
		i, _, err := p.Pick() // and tell of no success
		require.NoError(t, err)
		require.Equal(t, "1", i.ID)
		time.Sleep(10 * time.Second)
		failTimes(t, p, "1", 3)
		requireIn(t, p, "0")
	})
}

// When others leave, those that were to come back first come back.
func TestHalfStaysInWhenOthersLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := some(6)
		p := newPicker(t, discovery.RoundRobin(), list)
		for _, id := range []string{"2", "0", "1"} {
			fail(t, p, id)
			time.Sleep(time.Second)
		}
		requireIn(t, p, "3", "4", "5")
		p.Update(entries(list[:4]))
		requireIn(t, p, "2", "3")
		p.Update(entries(list[:1]))
		requireIn(t, p, "0")
	})
}

// What is known of an instance is kept while it stays, and only then.
func TestUpdateKeepsWhatIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := some(4)
		p := newPicker(t, discovery.RoundRobin(), list)
		fail(t, p, "1")
		failTimes(t, p, "2", 4)
		for i := range list {
			list[i].Metadata = map[string]string{"zone": "b"}
		}
		p.Update(entries(list))
		failTimes(t, p, "2", 1)
		requireIn(t, p, "0", "3")
		list[1].Port = 1 // another process
		p.Update(entries(list))
		requireIn(t, p, "0", "1", "3")
		p.Update(entries(list[:2]))
		p.Update(entries(list))
		requireIn(t, p, "0", "1", "2", "3")
	})
}

// A request may end long after its instance was taken out, or has left.
func TestLateErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := some(2)
		p := newPicker(t, discovery.RoundRobin(), list)
		var late []discovery.Request
		for range 40 {
			_, request, err := p.Pick()
			require.NoError(t, err)
			late = append(late, request)
		}
		fail(t, p, "0")
		time.Sleep(9 * time.Second)
		for i := 0; i < 20; i++ {
			late[i].Done(errFailed)
		}
		requireIn(t, p, "1")
		time.Sleep(time.Second)
		requireIn(t, p, "0", "1")
		p.Update(entries(some(4)[2:]))
		for _, request := range late[20:] {
			request.Done(errFailed)
		}
		requireIn(t, p, "2", "3")
	})
}

// A caller that gives up says nothing of the instance.
func TestErrorsThatDoNotCount(t *testing.T) {
	p := newPicker(t, discovery.RoundRobin(), some(2))
	finish := func(p *discovery.Picker, id string, errs ...error) {
		for n := 0; n < len(errs); {
			i, request, err := p.Pick()
			require.NoError(t, err)
			if i.ID != id {
				request.Done(nil)
				continue
			}
			request.Done(errs[n])
			n++
		}
	}
	cancelled := fmt.Errorf("get: %w", context.Canceled)
	finish(p, "0", cancelled, cancelled, cancelled, cancelled, cancelled, cancelled)
	requireIn(t, p, "0", "1")
	finish(p, "0", errFailed, errFailed, cancelled, errFailed, cancelled, errFailed, context.DeadlineExceeded)
	requireIn(t, p, "1")
	p = newPicker(t, discovery.RoundRobin(), some(2), discovery.WithFailures(func(err error) bool { return err == context.Canceled }))
	fail(t, p, "0")
	requireIn(t, p, "0", "1")
	finish(p, "0", context.Canceled, context.Canceled, context.Canceled, context.Canceled, context.Canceled)
	requireIn(t, p, "1")
}

func TestStickyLeavesAnInstanceThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPicker(t, discovery.Sticky(discovery.RoundRobin()), some(2))
		held := pick(t, p)
		fail(t, p, held)
		other := pick(t, p)
		require.NotEqual(t, held, other)
		time.Sleep(time.Hour)
		require.Equal(t, other, pick(t, p))
	})
}
