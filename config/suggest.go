package config

import "strings"

// didYouMean returns the candidate that is within two typing errors of word, or
// "" when none is, or when it would be another word altogether.
func didYouMean(word string, candidates []string) string {
	best, distance := "", min(3, len(word)/2+1)
	for _, candidate := range candidates {
		if d := typos(strings.ToLower(word), candidate); d < distance {
			best, distance = candidate, d
		}
	}
	return best
}

// typos is the Levenshtein distance of two short words.
func typos(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// oneOf says what is allowed, with a guess at what was meant.
func oneOf(word string, candidates []string) string {
	allowed := "allowed: " + strings.Join(candidates, ", ")
	if len(candidates) == 0 {
		allowed = "nothing is allowed here"
	}
	if guess := didYouMean(word, candidates); guess != "" {
		return "did you mean " + guess + "? " + allowed
	}
	return allowed
}
