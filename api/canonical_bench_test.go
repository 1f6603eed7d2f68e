package api

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkCanonical looks at the largest body of each kind that could be made
// to cost more than its share.
func BenchmarkCanonical(b *testing.B) {
	names := make([]string, 50_000)
	for i := range names {
		names[i] = fmt.Sprintf(`"n%05d":%d`, len(names)-i, i)
	}
	deep := strings.Repeat(`{"b":1,"a":`, 90) + "1" + strings.Repeat("}", 90)
	for name, body := range map[string]string{
		"text":     `"` + strings.Repeat("x", maxBody-2) + `"`,
		"names":    "{" + strings.Join(names, ",") + "}",
		"integers": "[" + strings.Repeat("1234567890123456e290,", maxBody/22) + "1]",
		"digits":   strings.Repeat("1", 300) + "." + strings.Repeat("1", maxBody-400),
		"zeros":    "0." + strings.Repeat("0", 300) + strings.Repeat("1", maxBody-400),
		"deep":     "[" + strings.Repeat(deep+",", maxBody/len(deep)-1) + "1]",
		"escapes":  `"` + strings.Repeat(`\ud83d\ude02`, maxBody/12-1) + `"`,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, bad := canonical([]byte(body)); bad != nil {
					b.Fatal(bad)
				}
			}
		})
	}
}
