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
	term, tstp := syscall.SIGTERM, syscall.SIGTSTP
	atEnd := []step{{kind: forgetGroup}, {kind: endJobs}, {kind: settle}, lookSoon}
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
			[]step{{kind: beginEnd}, {kind: tellTermed}, {kind: terminateFamily, ok: true}},
		},
		"kill": {
			[]event{asked(askedToKill)},
			[]step{{kind: beginEnd}, {kind: tellTermed}, killNow},
		},
		"kill after terminate":  {[]event{asked(askedToTerminate), asked(askedToKill)}, []step{killNow}},
		"a look in the killing": {[]event{asked(askedToKill), some, asked(lookDue)}, []step{killNow}},
		"a look before it":      {[]event{asked(lookDue)}, []step{lookNow}},
		"the grace begins": {
			[]event{asked(askedToBeginGrace)},
			[]step{{kind: beginEnd}, {kind: tellTermed}, {kind: answer, ok: true}},
		},
		"Ctrl-Z":                {[]event{signaled(tstp)}, []step{{kind: signalGroup, sig: tstp}}},
		"Ctrl-Z in the grace":   {[]event{asked(askedToTerminate), signaled(tstp)}, nil},
		"a pause":               {[]event{asked(askedToPause)}, []step{{kind: pauseFamily}}},
		"a pause that succeeds": {[]event{{kind: familyPaused, ok: true}}, []step{{kind: answer, ok: true}}},
		"a pause that fails": {
			[]event{{kind: familyPaused}},
			[]step{{kind: resumeFamily}, {kind: answer}},
		},
		"a pause in the grace": {
			[]event{asked(askedToTerminate), asked(askedToPause)},
			[]step{{kind: answer}},
		},
		"a pause after BeginGrace": {
			[]event{asked(askedToBeginGrace), asked(askedToPause)},
			[]step{{kind: answer}},
		},
		"a pause after the end": {[]event{ended, asked(askedToPause)}, []step{{kind: answer}}},
		"it goes on": {
			[]event{{kind: familyPaused, ok: true}, asked(askedToResume)},
			[]step{{kind: resumeFamily}},
		},
		"terminate in a pause does not continue": {[]event{{kind: familyPaused, ok: true}, asked(askedToTerminate)},
			[]step{{kind: beginEnd}, {kind: tellTermed}, {kind: terminateFamily}}},
		"it may not go on": {[]event{{kind: familyPaused, ok: true}, asked(askedToStayStopped)}, nil},
		"it may not go on, and is to end": {
			[]event{{kind: familyPaused, ok: true}, asked(askedToTerminate), asked(askedToStayStopped)},
			[]step{killNow},
		},
		"it was stopped": {
			[]event{{kind: commandStopped, sig: tstp}},
			[]step{{kind: tellStop, sig: tstp}},
		},
		"a session leaves": {[]event{{kind: sessionLeft, n: 40}}, []step{{kind: noteLeft, n: 40}}},
		"the end":          {[]event{ended}, atEnd},
		"the end is told when jobs are over and nothing is left": {
			[]event{ended, {kind: jobsOver}, nothing},
			[]step{lookSoon, exit1},
		},
		"or what is left had its time": {
			[]event{ended, {kind: jobsOver}, some, asked(settlingOver)},
			[]step{exit1},
		},
		"not before jobs are over": {[]event{ended, nothing, asked(settlingOver)}, nil},
		"not before the end":       {[]event{{kind: jobsOver}, nothing, asked(settlingOver)}, nil},
		"nothing is below the guard": {
			[]event{ended, {kind: jobsOver}, {kind: guardAlone, at: time.Unix(1, 0)}},
			[]step{exit1},
		},
		"no look after that": {[]event{{kind: guardAlone, at: time.Unix(1, 0)}, asked(lookDue)}, nil},
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

// The status is the command's, or that of a kill if the guard has died first.
func TestCourseKnowsTheStatus(t *testing.T) {
	c := &course{}
	from(c, ended, asked(guardEnded))
	require.Equal(t, 7, c.status)
	require.False(t, c.guardDied)
	c = &course{}
	from(c, asked(guardEnded), ended)
	require.True(t, c.guardDied)
}

// Whatever happens in whatever order: nobody pauses in the grace, the guard knows
// of the grace before the command does, killing does not stop, and nothing is over
// before the command has ended, nothing is left, and the end was told.
func TestNoCourseEndsTooEarly(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		c := &course{}
		var termed, grace, killing, isEnd, empty bool
		exits := 0
		for range 60 {
			e := event{kind: eventKind(random.IntN(int(jobsOver) + 1)), ok: random.IntN(2) > 0}
			e.sig = syscall.Signal(1 + random.IntN(20))
			e.at = time.Unix(int64(1+random.IntN(9)), 0)
			if c.alone && e.kind == familySeen {
				continue // nobody looks any more
			}
			steps := c.on(e)
			grace = grace || e.kind == askedToTerminate || e.kind == askedToKill || e.kind == askedToBeginGrace
			killing = killing || e.kind == askedToKill || e.kind == guardEnded
			isEnd = isEnd || e.kind == commandEnded || e.kind == guardEnded
			empty = e.kind == familySeen && e.ok || e.kind == guardAlone || empty && (e.kind != familySeen || e.ok)
			for _, s := range steps {
				termed = termed || s.kind == tellTermed || e.kind == guardEnded
				sendsTerm := s.kind == terminateFamily || s.kind == signalGroup && s.sig == syscall.SIGTERM
				kills := s.kind == look && s.ok
				require.False(t, (sendsTerm || kills) && !termed, "seed %d: %v", seed, e)
				require.False(t, grace && s.kind == pauseFamily, "seed %d", seed)
				require.False(t, grace && s.kind == signalGroup && s.sig == syscall.SIGTSTP, "seed %d", seed)
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

// What follows when the command was stopped, and when the job may not stop.
func TestStops(t *testing.T) {
	for name, tc := range map[string]struct {
		stop           stop
		first, instead move
	}{
		"Ctrl-Z":                              {stop{syscall.SIGTSTP, true, true}, pauseJob, goOn},
		"Ctrl-Z without a shell":              {stop{syscall.SIGTSTP, false, false}, pauseJob, goOn},
		"kill -STOP":                          {stop{syscall.SIGSTOP, true, true}, pauseJob, stay},
		"it reads in the foreground":          {stop{syscall.SIGTTIN, true, true}, goOn, keepTrying},
		"it writes in the foreground":         {stop{syscall.SIGTTOU, true, true}, goOn, keepTrying},
		"it reads in the background":          {stop{syscall.SIGTTIN, false, true}, pauseJob, keepTrying},
		"no shell would give it the terminal": {stop{syscall.SIGTTIN, false, false}, keepTrying, keepTrying},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.first, tc.stop.first())
			require.Equal(t, tc.instead, tc.stop.instead(false))
			require.Equal(t, stay, tc.stop.instead(true), "the lock is lost")
		})
	}
}
