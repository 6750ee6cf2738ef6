package nodes

import "slices"

// maxEarlier bounds how many payloads are kept for the case that the server
// refuses later ones.
const maxEarlier = 8

// replaceWishLocked notes the data that the node is to have from now on. The
// data before is not forgotten until the node has it, or a later Set's.
func (n *PersistentNode) replaceWishLocked(p payload) {
	if n.wish.set != n.have.set {
		n.earlier = append(n.earlier, n.wish)
		n.earlier = n.earlier[max(0, len(n.earlier)-maxEarlier):]
	}
	n.wish = p
}

// stopWaiting notes that a Set returns.
func (n *PersistentNode) stopWaiting(set uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.waiting, set)
}

// wanted returns the data that the node is to have.
func (n *PersistentNode) wanted() payload {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.wish
}

// said returns what the node may say: the data that it has, unless it never was
// there, and all that it was to have since. The last one is the newest.
func (n *PersistentNode) said() (all [][]byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.have.set != 0 {
		all = append(all, n.have.data)
	}
	for _, p := range n.earlier {
		all = append(all, p.data)
	}
	if n.wish.set != n.have.set {
		all = append(all, n.wish.data)
	}
	return all
}

// has returns the number of the Set whose data the node has.
func (n *PersistentNode) has() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.have.set
}

// wrote notes that the node has this data.
func (n *PersistentNode) wrote(p payload) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.have.set != p.set {
		n.have = p
		n.earlier = slices.DeleteFunc(n.earlier, func(e payload) bool { return e.set <= p.set })
		n.life.Tell()
	}
}

// refuse notes that the server has refused this data. It reports whether there
// is other data to go on with: a later Set's, an earlier one's that was not
// written, or what the node had.
func (n *PersistentNode) refuse(p payload, why error) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.earlier = slices.DeleteFunc(n.earlier, func(e payload) bool { return e.set == p.set })
	if n.wish.set != p.set { // Set was called meanwhile
		n.refuseSetsLocked(p.set-1, p.set, why)
		return true
	}
	next := n.have
	if last := len(n.earlier) - 1; last >= 0 {
		next, n.earlier = n.earlier[last], n.earlier[:last]
	}
	if next.set == 0 || next.set == p.set {
		return false
	}
	n.wish = next
	n.refuseSetsLocked(next.set, p.set, why)
	return true
}

// refuseSetsLocked makes the Sets behind one number, up to another, return an
// error. The data of those in between is not kept any more.
func (n *PersistentNode) refuseSetsLocked(behind, last uint64, why error) {
	for set, refused := range n.waiting {
		if behind < set && set <= last && refused == nil {
			n.waiting[set] = why
		}
	}
	n.life.Tell()
}
