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

// typos counts letters that are wrong, missing, too many or swapped with their
// neighbour (the optimal string alignment distance).
func typos(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			wrong := 1
			if a[i-1] == b[j-1] {
				wrong = 0
			}
			d[i][j] = min(d[i-1][j-1]+wrong, d[i-1][j]+1, d[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
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
