package datatree

// Effect repeats on a tree what was done to another one.
type Effect func(*Tree)

func (t *Tree) record(e Effect) { t.effects = append(t.effects, e) }

// TakeEffects returns what was done since the last call.
func (t *Tree) TakeEffects() []Effect {
	taken := t.effects
	t.effects = nil
	return taken
}

// Clone returns another tree with the same nodes.
func (t *Tree) Clone() *Tree {
	c := New()
	c.nodes = make(map[string]*Node, len(t.nodes))
	t.Walk("/", func(path string, n *Node) {
		twin := *n
		twin.Children = nil
		if path == "/" {
			c.nodes[path] = &twin
		} else {
			c.attach(path, &twin)
		}
	})
	c.Recording, c.DeletesKeepPzxid = t.Recording, t.DeletesKeepPzxid
	return c
}
