package child

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// processesOf returns a list of processes: each with its parent, group and session. The
// guard is 10, the command 20, and all began when their ids say.
func processesOf(list ...[4]int) map[int]process {
	all := map[int]process{}
	for _, p := range append(list, [4]int{1, 0, 1, 1}, [4]int{10, 1, 10, 5}, [4]int{20, 10, 20, 5}) {
		all[p[0]] = process{identity: identity{p[0], uint64(p[0])}, parent: p[1], group: p[2], session: p[3]}
	}
	return all
}

func familyOf20() *family {
	f := &family{command: 20, session: 5, keepers: []identity{{10, 10}}, after: 20, left: map[identity]bool{}, seen: map[identity]bool{}}
	f.ended.sessions = map[int]bool{40: true}
	return f
}

func TestWhoBelongsToACommand(t *testing.T) {
	for name, tc := range map[string]struct {
		list [][4]int // the first one is asked for
		want standing
	}{
		"a child":                           {[][4]int{{30, 20, 20, 5}}, belongs},
		"in a group of its own":             {[][4]int{{30, 20, 30, 5}}, belongs},
		"an orphan":                         {[][4]int{{30, 10, 30, 5}}, belongs},
		"in a session below the command":    {[][4]int{{30, 20, 30, 30}}, belongs},
		"an orphan in such a session":       {[][4]int{{31, 10, 30, 30}, {30, 20, 30, 30}}, belongs},
		"an orphan of such a session":       {[][4]int{{31, 10, 30, 30}}, belongs},
		"a daemon":                          {[][4]int{{30, 10, 30, 30}}, hasLeft},
		"a child of a daemon":               {[][4]int{{31, 30, 30, 30}, {30, 10, 30, 30}}, hasLeft},
		"an orphan of a daemon":             {[][4]int{{31, 10, 31, 30}, {30, 10, 30, 30}}, hasLeft},
		"a session below a daemon":          {[][4]int{{31, 30, 31, 31}, {30, 10, 30, 30}}, hasLeft},
		"a daemon that has forked twice":    {[][4]int{{41, 10, 40, 40}}, hasLeft},
		"elsewhere":                         {[][4]int{{30, 1, 30, 5}}, isForeign},
		"the guard":                         {[][4]int{{10, 1, 10, 5}}, isForeign},
		"older than the command":            {[][4]int{{15, 10, 15, 5}}, isForeign},
		"an orphan of a stranger's session": {[][4]int{{30, 10, 30, 12}, {12, 1, 12, 12}}, isForeign},
		"whose parent was not read":         {[][4]int{{30, 29, 30, 5}}, isForeign},
		"in a circle":                       {[][4]int{{30, 31, 30, 5}, {31, 30, 30, 5}}, isForeign},
	} {
		t.Run(name, func(t *testing.T) {
			all := processesOf(tc.list...)
			require.Equal(t, tc.want, familyOf20().standing(all, all[tc.list[0][0]]))
		})
	}
}

// From the beginning of the end on, who has belonged belongs, and who is new
// does, too.
func TestNobodyLeavesACommandThatEnds(t *testing.T) {
	f := familyOf20()
	before := processesOf([4]int{30, 10, 30, 30}, [4]int{50, 20, 50, 50})
	for _, p := range before {
		if f.standing(before, p) == hasLeft {
			f.left[p.identity] = true
		}
	}
	f.ending = true
	require.Len(t, f.members(before), 2)
	after := processesOf([4]int{30, 10, 30, 30}, [4]int{31, 30, 30, 30}, [4]int{50, 10, 50, 50}, [4]int{60, 10, 60, 60})
	for pid, want := range map[int]standing{30: hasLeft, 31: hasLeft, 50: belongs, 60: belongs} {
		require.Equal(t, want, f.standing(after, after[pid]), pid)
	}
}

func TestGroupsOfMembersAlone(t *testing.T) {
	all := processesOf([4]int{30, 20, 30, 5}, [4]int{31, 20, 10, 5}, [4]int{32, 30, 30, 5})
	require.Equal(t, map[int]bool{20: true, 30: true}, groupsOf(all, familyOf20().members(all)))
}

func TestParseStat(t *testing.T) {
	for stat, want := range map[string]process{
		"5 (a) b) (c) S 7 8 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 12345 0 0": {identity{5, 12345}, 7, 8, 9, false, false},
		"5 (sh) Z 7 8 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 12345 0 0":       {identity{5, 12345}, 7, 8, 9, true, false},
		"5 (sh) Z 7 8 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 12345 0 0":       {identity{5, 12345}, 7, 8, 9, false, false},
		"5 (sh) T 7 8 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 12345 0 0":       {identity{5, 12345}, 7, 8, 9, false, true},
	} {
		p, ok := parseStat(5, []byte(stat))
		require.True(t, ok)
		require.Equal(t, want, p)
	}
	_, ok := parseStat(5, []byte("5 (sh) S"))
	require.False(t, ok)
	self, ok := readProcess(os.Getpid())
	require.True(t, ok)
	require.Equal(t, os.Getppid(), self.parent)
}

// writeProcesses writes what the system tells of processes: each with its parent
// and group.
func writeProcesses(t *testing.T, list ...[3]int) procfs {
	dir := t.TempDir()
	for _, p := range list {
		own := filepath.Join(dir, strconv.Itoa(p[0]))
		require.NoError(t, os.Mkdir(own, 0o700))
		stat := fmt.Sprintf("%d (sh) S %d %d 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0", p[0], p[1], p[2], p[0])
		require.NoError(t, os.WriteFile(filepath.Join(own, "stat"), []byte(stat), 0o600))
	}
	return procfs(dir)
}

// A family is empty if the system says so, and not if it does not say.
func TestAFamilyThatIsNotSeenIsNotEmpty(t *testing.T) {
	guards := [][3]int{{1, 0, 1}, {10, 1, 10}}
	for name, tc := range map[string]struct {
		list [][3]int
		harm func(t *testing.T, root string)
		want bool
	}{
		"nobody":  {guards, nil, true},
		"a child": {append(guards, [3]int{20, 10, 20}), nil, false},
		"nothing can be read": {guards, func(t *testing.T, root string) {
			require.NoError(t, os.RemoveAll(root))
		}, false},
		"one cannot be read": {guards, func(t *testing.T, root string) {
			require.NoError(t, os.MkdirAll(filepath.Join(root, "30", "stat"), 0o700))
		}, false},
		"one that has just ended": {guards, func(t *testing.T, root string) {
			require.NoError(t, os.Mkdir(filepath.Join(root, "30"), 0o700))
		}, true},
		"a hidden child": {guards, func(t *testing.T, root string) {
			thread := filepath.Join(root, "10", "task", "11")
			require.NoError(t, os.MkdirAll(thread, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(thread, "children"), []byte("1 30 "), 0o600))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := familyOf20()
			f.procfs = writeProcesses(t, tc.list...)
			if tc.harm != nil {
				tc.harm(t, string(f.procfs))
			}
			require.Equal(t, tc.want, f.isEmpty())
		})
	}
}

// A guard that could not be read at first is known later.
func TestAKeeperIsReadAgain(t *testing.T) {
	f := familyOf20()
	f.keepers, f.unread = nil, []int{10}
	f.procfs = writeProcesses(t, [3]int{1, 0, 1}, [3]int{20, 10, 20})
	require.NoError(t, os.MkdirAll(filepath.Join(string(f.procfs), "10", "stat"), 0o700))
	require.False(t, f.isEmpty())
	require.NoError(t, os.Remove(filepath.Join(string(f.procfs), "10", "stat")))
	require.NoError(t, os.WriteFile(filepath.Join(string(f.procfs), "10", "stat"),
		[]byte("10 (g) S 1 10 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 10 0 0"), 0o600))
	require.False(t, f.isEmpty(), "the command is there")
	require.Equal(t, []identity{{10, 10}}, f.keepers)
}

// A guard goes on with the end of a family as somebody else has begun it.
func TestTheEndIsToldAsItHasBegun(t *testing.T) {
	begun := familyOf20()
	begun.left[identity{30, 30}], begun.ending = true, true
	text, err := json.Marshal(order{Ending: begun.howItEnds()})
	require.NoError(t, err)
	var o order
	require.NoError(t, json.Unmarshal(text, &o))
	f := familyOf20()
	f.ended.sessions = map[int]bool{70: true} // since then
	f.beginAs(o.Ending)
	f.leftIn(80)
	all := processesOf([4]int{30, 10, 30, 30}, [4]int{60, 10, 60, 60}, [4]int{41, 10, 40, 40}, [4]int{71, 10, 70, 70}, [4]int{81, 10, 80, 80})
	for pid, want := range map[int]standing{30: hasLeft, 41: hasLeft, 60: belongs, 71: belongs, 81: belongs} {
		require.Equal(t, want, f.standing(all, all[pid]), pid)
	}
}

// A process of another user is named, whichever signal it is that this program may
// not send. The others get theirs.
func TestAProcessThatRefusesSignalsIsNamed(t *testing.T) {
	for name, send := range map[string]func(f *family) int{
		"TERM": func(f *family) int { return f.signal(syscall.SIGTERM, syscall.SIGCONT) },
		"KILL": func(f *family) int { return f.kill() },
	} {
		for foreign, want := range map[int]int{0: 0, 30: 30, 20: 20} {
			f := familyOf20()
			f.procfs = writeProcesses(t, [3]int{10, 1, 10}, [3]int{20, 10, 20}, [3]int{30, 20, 30}, [3]int{40, 20, 40})
			sent := map[int]bool{}
			f.sender = func(p process, _ ...syscall.Signal) error {
				sent[p.pid] = true
				if p.pid == foreign {
					return syscall.EPERM
				}
				return nil
			}
			require.Equal(t, want, send(f), "%s to %d", name, foreign)
			require.Equal(t, map[int]bool{20: true, 30: true, 40: true}, sent)
		}
	}
	p := newProcess()
	p.noteRefused(0)
	p.noteRefused(30)
	p.noteRefused(40)
	require.Equal(t, 30, <-p.Refused(), "the first one")
	require.Empty(t, p.Refused())
}

// A guard whose program has died asks the family to end, and to go on for that if it
// is stopped. After the grace it kills all that is there, until nothing is left:
// also what ignores TERM, and what has begun meanwhile.
func TestAGuardEndsTheFamily(t *testing.T) {
	const grace = 3 * time.Second
	for name, patience := range map[string]time.Duration{"with a grace": grace, "without": 0} {
		f := familyOf20()
		f.procfs = writeProcesses(t, [3]int{10, 1, 10}, [3]int{20, 10, 20}, [3]int{30, 20, 30})
		begun := writeProcesses(t, [3]int{40, 10, 40})
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			var got []string
			f.sender = func(p process, sigs ...syscall.Signal) error {
				got = append(got, fmt.Sprintf("%d %v", p.pid, sigs))
				if slices.Contains(sigs, syscall.SIGKILL) {
					require.Equal(t, patience, time.Since(begin).Truncate(time.Second))
					own := "/" + strconv.Itoa(p.pid)
					require.NoError(t, os.RemoveAll(string(f.procfs)+own))
					if p.pid == 30 {
						require.NoError(t, os.Rename(string(begun)+"/40", string(f.procfs)+"/40"))
					}
				}
				return nil
			}
			f.end(patience, nil)
			slices.Sort(got)
			want := []string{"20 [killed]", "30 [killed]", "40 [killed]"}
			if patience > 0 {
				want = []string{"20 [killed]", "20 [terminated continued]", "30 [killed]", "30 [terminated continued]", "40 [killed]"}
			}
			require.Equal(t, want, got, name)
		})
	}
}
