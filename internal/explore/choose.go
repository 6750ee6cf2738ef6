package explore

import "math/rand/v2"

// chooser makes a choice at a step: the number of a move.
type chooser func(step int, moves []move) int

// natural makes no deviation but the given ones.
func natural(c choices) chooser {
	return func(step int, moves []move) int {
		for _, d := range c {
			if d.Step == step && d.Move < len(moves) {
				return d.Move
			}
		}
		return 0
	}
}

// wander deviates now and then, at random: at any step alike, and there by a move
// of a kind that has rarely been made before. It notes where.
func wander(seed uint64, before counts, walked *choices) chooser {
	r := rand.New(rand.NewPCG(seed, 0))
	chances := []float64{0.02, 0.05, 0.1, 0.3}
	chance := chances[r.IntN(len(chances))]
	return func(step int, moves []move) int {
		if r.Float64() >= chance {
			return 0
		}
		i := before.pickRare(moves, r.Float64())
		*walked = append(*walked, deviation{step, i})
		return i
	}
}
