package cli

import "fmt"

// didYouMean returns a question about the word that somebody may have meant, or
// nothing if none is near.
func didYouMean(word string, known []string) string {
	best, distance := "", max(1, len(word)/3)+1
	for _, candidate := range known {
		if d := editDistance(word, candidate); d < distance {
			best, distance = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// editDistance returns how many bytes must be put in, left out, or replaced to
// make one text of another.
func editDistance(a, b string) int {
	// row[j] is the distance between the bytes of a so far and the first j of
	// b.
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
