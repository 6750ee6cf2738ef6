package explore

import "regexp"

// pathInText is what tells two moves of one kind apart.
var pathInText = regexp.MustCompile(` /[^ :]*`)

// kind is what a move does, to which request and to whom, at whatever node.
func (m move) kind() string { return pathInText.ReplaceAllString(m.text, "") }

// counts are how many deviations of each kind there were in a search.
type counts map[string]int

// add counts the deviations of runs.
func (c counts) add(results []result) {
	for _, r := range results {
		for _, kind := range r.Made {
			c[kind]++
		}
	}
}

// pickRare picks one of the deviations. The chance of each falls with the number of
// its kind. The argument at is where in all of the chances, from 0 to 1.
func (c counts) pickRare(moves []move, at float64) int {
	chances, all := make([]float64, len(moves)), 0.0
	for i, m := range moves[1:] {
		chances[i+1] = 1 / float64(1+c[m.kind()])
		all += chances[i+1]
	}
	at *= all
	for i, chance := range chances {
		if at -= chance; at < 0 {
			return i
		}
	}
	return len(moves) - 1
}
