package datatree

// Effect repeats a change of one tree on another tree.
type Effect func(*Tree)

func (t *Tree) record(e Effect) { t.effects = append(t.effects, e) }

// TakeEffects returns the changes since the last call.
func (t *Tree) TakeEffects() []Effect {
	taken := t.effects
	t.effects = nil
	return taken
}

// Clone returns a copy of the tree.
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
