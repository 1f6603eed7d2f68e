package api

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	for literal, want := range map[string]string{
		"1": "1", "1.0": "1", "1e0": "1", "10e-1": "1", "0.1e1": "1", "1E+0": "1", "100e-2": "1",
		"-1": "-1", "-1.00": "-1",
		"0": "0", "-0": "0", "0.0": "0", "-0e5": "0", "0e999999999999": "0",
		"100": "100", "1e2": "100", "1e20": "100000000000000000000",
		"1e21": "1e+21", "1000000000000000000000": "1e+21", "1e300": "1e+300",
		"0.1": "0.1", "1e-1": "0.1", "0.10": "0.1", "1e-7": "1e-7", "0.000001": "0.000001",
		"4.50": "4.5", "2e-3": "0.002", "0.000000000000000000000000001": "1e-27", // RFC 8785 §3.2.3
		"333333333.33333329": "333333333.3333333",
		"123456789012345":    "123456789012345",

		// Integers keep their digits.
		"9007199254740992": "9007199254740992", "9007199254740993": "9007199254740993",
		"9007199254740993.0": "9007199254740993", "9007199254740993e0": "9007199254740993",
		"900719925474099.3e1": "9007199254740993", "-9007199254740993": "-9007199254740993",
		"12345678901234567890123": "12345678901234567890123",
		"1234567890123456e3":      "1234567890123456000",

		// Fractions are doubles, also where these are integers.
		"9007199254740993.5":       "9007199254740994",
		"1234567890123456789012.5": "1234567890123456800000",
		"5e-324":                   "5e-324",
		"1.7976931348623157e308":   "17976931348623157" + strings.Repeat("0", 292),
	} {
		t.Run(literal, func(t *testing.T) {
			t.Parallel()
			got, err := appendNumber([]byte("x"), literal)
			require.NoError(t, err)
			require.Equal(t, "x"+want, string(got))
		})
	}
}

func TestNumberOutOfRange(t *testing.T) {
	t.Parallel()
	for _, literal := range []string{
		"1e400", "-1e400", "1e309", "1e-400", "-1e-400", "1e99999999999999999999", "1e-99999999999999999999",
		"1" + strings.Repeat("0", 400), "0." + strings.Repeat("0", 400) + "1",
	} {
		_, err := appendNumber(nil, literal)
		require.ErrorIs(t, err, errNumberRange, literal)
	}
}

func TestNumberIsAFixedPoint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		literal := rapid.OneOf(
			rapid.StringMatching(`-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?`),
			rapid.StringMatching(`-?[1-9]\.[0-9]{14,20}e[+-]?[0-9]{1,3}`),
		).Draw(t, "literal")
		once, err := appendNumber(nil, literal)
		if err != nil {
			return
		}
		twice, err := appendNumber(nil, string(once))
		if err != nil || !bytes.Equal(twice, once) {
			t.Fatalf("%s became %s, and that %s (%v)", literal, once, twice, err)
		}
	})
}

func TestNumberTellsIntegersApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Int64().Draw(t, "a")
		b := rapid.OneOf(rapid.Int64(), rapid.Just(a), rapid.Just(a^1)).Draw(t, "b")
		first, second := number(t, a), number(t, b)
		if (first == second) != (a == b) {
			t.Fatalf("%d is %s, %d is %s", a, first, b, second)
		}
	})
}

func number(t *rapid.T, n int64) string {
	tail := rapid.SampledFrom([]string{"", ".0", "e0", ".000E+0"}).Draw(t, "tail")
	out, err := appendNumber(nil, strconv.FormatInt(n, 10)+tail)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
