package inspect

// processes tells which participants are of one process: they have one session,
// or their nodes name the same process. A node that does not name its process
// stands for its session alone.
type processes struct {
	parent map[string]string    // a forest; roots have no entry
	known  map[SessionID]string // the roots of sessions
}

// processesOf finds the processes of all participants of some waits.
func processesOf(waits []Wait) *processes {
	p := &processes{parent: map[string]string{}, known: map[SessionID]string{}}
	for _, w := range waits {
		for _, waiter := range w.Waiters {
			p.add(waiter)
		}
		for _, holder := range w.Holders {
			p.add(holder)
		}
	}
	return p
}

func (p *processes) add(who Participant) {
	if name := who.process(); name != "" {
		p.join(sessionKey(who), "process "+name)
	}
}

func (p *processes) join(a, b string) {
	if a, b = p.root(a), p.root(b); a != b {
		p.parent[a] = b
	}
}

// root returns the key of a process.
func (p *processes) root(key string) string {
	root := key
	for next, ok := p.parent[root]; ok; next, ok = p.parent[root] {
		root = next
	}
	for key != root { // shortens the way for the next search
		key, p.parent[key] = p.parent[key], root
	}
	return root
}

// of returns a text that is the same for all participants of a process.
func (p *processes) of(who Participant) string {
	key, ok := p.known[who.Session]
	if !ok {
		key = p.root(sessionKey(who))
		if who.Session != 0 {
			p.known[who.Session] = key
		}
	}
	return key
}

// sessionKey returns the key of a session. A node that is not ephemeral has
// none, and stands for itself.
func sessionKey(who Participant) string {
	if who.Session == 0 {
		return "node " + who.Path
	}
	return "session " + who.Session.String()
}
