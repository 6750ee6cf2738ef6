//go:build unix

package child

import (
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// from has a course learn some events, and returns the steps of the last one.
func from(c *course, events ...event) (steps []step) {
	for _, e := range events {
		steps = c.on(e)
	}
	return steps
}

var (
	asked    = func(kind eventKind) event { return event{kind: kind} }
	signaled = func(sig syscall.Signal) event { return event{kind: askedToSignal, sig: sig} }
	ended    = event{kind: commandEnded, n: 7}
	nothing  = event{kind: familySeen, ok: true, at: time.Unix(1, 0)}
	some     = event{kind: familySeen, at: time.Unix(1, 0)}
	lookNow  = step{kind: look}
	killNow  = step{kind: look, ok: true}
	lookSoon = step{kind: lookLater, wait: familyPoll}
	exit1    = step{kind: tellExit}
)

// What follows from the last of some events.
func TestCourse(t *testing.T) {
	term, tstp, ttin := syscall.SIGTERM, syscall.SIGTSTP, syscall.SIGTTIN
	atEnd := []step{{kind: forgetGroup}, {kind: settle}, lookSoon}
	stoppedBy := func(sig syscall.Signal, tty tty) event { return event{kind: commandStopped, sig: sig, tty: tty} }
	goOn := step{kind: signalGroup, sig: syscall.SIGCONT}
	for name, tc := range map[string]struct {
		events []event
		want   []step
	}{
		"a signal that does not end it": {
			[]event{signaled(syscall.SIGUSR1)},
			[]step{{kind: signalGroup, sig: syscall.SIGUSR1}},
		},
		"INT: nobody leaves": {
			[]event{signaled(syscall.SIGINT)},
			[]step{{kind: beginEnd}, {kind: signalGroup, sig: syscall.SIGINT}},
		},
		"TERM: the guard knows first": {
			[]event{signaled(term)},
			[]step{{kind: beginEnd}, {kind: tellTermed}, {kind: signalGroup, sig: term}},
		},
		"TERM, again": {
			[]event{signaled(term), signaled(term)},
			[]step{{kind: signalGroup, sig: term}},
		},
		"terminate": {
			[]event{asked(askedToTerminate)},
			[]step{{kind: beginEnd}, {kind: tellTermed}, {kind: terminateFamily}},
		},
		"kill": {
			[]event{asked(askedToKill)},
			[]step{{kind: beginEnd}, {kind: tellTermed}, killNow},
		},
		"kill after terminate":                 {[]event{asked(askedToTerminate), asked(askedToKill)}, []step{killNow}},
		"a look in the killing":                {[]event{asked(askedToKill), some, asked(lookDue)}, []step{killNow}},
		"a look before it":                     {[]event{asked(lookDue)}, []step{lookNow}},
		"Ctrl-Z":                               {[]event{stoppedBy(tstp, background)}, []step{goOn}},
		"kill -STOP":                           {[]event{stoppedBy(syscall.SIGSTOP, foreground)}, nil},
		"it reads in the foreground":           {[]event{stoppedBy(ttin, foreground)}, []step{{kind: giveTerminal}, goOn}},
		"it reads in the background":           {[]event{stoppedBy(ttin, background)}, []step{{kind: continueLater}}},
		"it writes there":                      {[]event{stoppedBy(syscall.SIGTTOU, background)}, []step{{kind: continueLater}}},
		"it tries again":                       {[]event{stoppedBy(ttin, background), asked(continueDue)}, []step{goOn}},
		"not after its end":                    {[]event{stoppedBy(ttin, background), ended, asked(continueDue)}, nil},
		"there is no terminal":                 {[]event{stoppedBy(tstp, noTerminal)}, nil},
		"a session leaves":                     {[]event{{kind: sessionLeft, n: 40}}, []step{{kind: noteLeft, n: 40}}},
		"the end":                              {[]event{ended}, atEnd},
		"the end is told when nothing is left": {[]event{ended, nothing}, []step{lookSoon, exit1}},
		"or what is left had its time":         {[]event{ended, some, asked(settlingOver)}, []step{exit1}},
		"not before the end":                   {[]event{nothing, asked(settlingOver)}, nil},
		"nothing is below the guard":           {[]event{ended, {kind: guardAlone, at: time.Unix(1, 0)}}, []step{exit1}},
		"no look after that":                   {[]event{{kind: guardAlone, at: time.Unix(1, 0)}, asked(lookDue)}, nil},
		"the guard dies": {
			[]event{asked(guardEnded)},
			append(slices.Clone(atEnd), step{kind: takeOver}, killNow),
		},
		"the guard dies after the end": {
			[]event{ended, asked(guardEnded)},
			[]step{{kind: takeOver}, killNow},
		},
		"the system tells of the end": {
			[]event{asked(commandDead)},
			[]step{{kind: rouseGuard}},
		},
		"the guard still does not": {
			[]event{asked(commandDead), asked(guardLate)},
			[]step{{kind: killStoppedGuard}, {kind: rouseGuard}},
		},
		"the guard does": {[]event{asked(commandDead), ended, asked(guardLate)}, nil},
		"nothing is left, and the guard does not tell": {[]event{nothing, {kind: familySeen, ok: true, at: time.Unix(1, 1).Add(guardPatience)}},
			[]step{{kind: killStoppedGuard}, {kind: lookLater, wait: guardPatience / 100}}},
		"looks that take long are rare": {
			[]event{{kind: familySeen, took: time.Second}},
			[]step{{kind: lookLater, wait: 10 * time.Second}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, from(&course{}, tc.events...))
		})
	}
}

// The status is the command's, or the status of a kill if the guard has died first.
func TestCourseKnowsTheStatus(t *testing.T) {
	c := &course{}
	from(c, ended, asked(guardEnded))
	require.Equal(t, 7, c.status)
	require.False(t, c.guardDied)
	c = &course{}
	from(c, asked(guardEnded), ended)
	require.True(t, c.guardDied)
}

// Whatever happens in whatever order: the guard knows of the grace before the
// command does, killing does not stop, and nothing is over before the command has
// ended, nothing is left, and the end was told.
func TestNoCourseEndsTooEarly(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		c := &course{}
		var termed, killing, isEnd, empty bool
		exits := 0
		for range 60 {
			e := event{kind: eventKind(random.IntN(int(settlingOver) + 1)), ok: random.IntN(2) > 0}
			e.sig = syscall.Signal(1 + random.IntN(20))
			e.at = time.Unix(int64(1+random.IntN(9)), 0)
			if c.alone && e.kind == familySeen {
				continue // nobody looks any more
			}
			steps := c.on(e)
			killing = killing || e.kind == askedToKill || e.kind == guardEnded
			isEnd = isEnd || e.kind == commandEnded || e.kind == guardEnded
			empty = e.kind == familySeen && e.ok || e.kind == guardAlone || empty && (e.kind != familySeen || e.ok)
			for _, s := range steps {
				termed = termed || s.kind == tellTermed || e.kind == guardEnded
				sendsTerm := s.kind == terminateFamily || s.kind == signalGroup && s.sig == syscall.SIGTERM
				kills := s.kind == look && s.ok
				require.False(t, (sendsTerm || kills) && !termed, "seed %d: %v", seed, e)
				require.False(t, killing && s.kind == look && !s.ok, "seed %d", seed)
				if s.kind == tellExit {
					exits++
				}
			}
			require.LessOrEqual(t, exits, 1, "seed %d", seed)
			require.False(t, exits > 0 && !isEnd, "seed %d", seed)
			require.False(t, c.isOver() && (exits == 0 || !empty), "seed %d", seed)
		}
	}
}

// A guard whose program has died leaves the command one grace: none if the
// program had begun one.
func TestAGuardLeavesOneGrace(t *testing.T) {
	for name, tc := range map[string]struct {
		orders []order
		want   time.Duration
	}{
		"no grace is known":       {nil, 0},
		"the program dies":        {[]order{{Grace: time.Minute}}, time.Minute},
		"after TERM":              {[]order{{Grace: time.Minute}, {Termed: true}}, 0},
		"after other orders, too": {[]order{{Grace: time.Minute}, {Termed: true}, {Ending: &ending{}}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var o obedience
			for _, got := range tc.orders {
				require.False(t, o.heed(got))
			}
			require.Equal(t, tc.want, o.patience())
			require.True(t, o.heed(order{Dismiss: true}))
		})
	}
}
