package api

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// exactDigits is how many significant digits a float64 keeps of any number.
// Integers with more keep their digits instead of being rounded.
const exactDigits = 15

// errNumberRange is returned for numbers a float64 cannot hold, in either
// direction: 1e400, and 1e-400, which would silently become 0.
var errNumberRange = errors.New("the number is out of range of a 64-bit float")

// appendNumber appends the canonical form of a valid JSON number. Numbers are
// written as RFC 8785 §3.2.2.3 has it, with one exception: an integer, however
// it is spelt, of more than 15 significant digits keeps them all. So 1, 1.0 and
// 1e0 are one number, and 9007199254740993 and 9007199254740992 are two.
func appendNumber(dst []byte, literal string) ([]byte, error) {
	float, err := strconv.ParseFloat(literal, 64)
	if err != nil || math.IsInf(float, 0) {
		return dst, errNumberRange
	}
	if float == 0 {
		if strings.ContainsAny(significand(literal), "123456789") {
			return dst, errNumberRange
		}
		return append(dst, '0'), nil // -0, too
	}
	if d := decimalOf(literal); d.bigInteger() {
		return d.appendPlain(dst), nil
	}
	rounded := jsontext.AppendFloat(nil, float, 64)
	// Beyond 2^53 a fraction rounds to an integer, and is written like one, so
	// that the canonical form of a canonical form is itself.
	if d := decimalOf(string(rounded)); d.bigInteger() {
		return d.appendPlain(dst), nil
	}
	return append(dst, rounded...), nil
}

// significand is the literal without its exponent.
func significand(literal string) string {
	if e := strings.IndexAny(literal, "eE"); e >= 0 {
		return literal[:e]
	}
	return literal
}

// decimal is a number other than 0 as digits × 10^exponent; digits begin and
// end with one other than 0.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// decimalOf reads a number that is within the range of a float64, which bounds
// its exponent.
func decimalOf(literal string) decimal {
	d := decimal{negative: strings.HasPrefix(literal, "-")}
	whole := strings.TrimPrefix(significand(literal), "-")
	if len(significand(literal)) < len(literal) {
		d.exponent, _ = strconv.Atoi(literal[len(significand(literal))+1:])
	}
	whole, fraction, _ := strings.Cut(whole, ".")
	d.exponent -= len(fraction)
	digits := strings.TrimLeft(whole+fraction, "0")
	d.digits = strings.TrimRight(digits, "0")
	d.exponent += len(digits) - len(d.digits)
	return d
}

func (d decimal) bigInteger() bool { return d.exponent >= 0 && len(d.digits) > exactDigits }

// appendPlain appends an integer with all its digits: at most 309.
func (d decimal) appendPlain(dst []byte) []byte {
	if d.negative {
		dst = append(dst, '-')
	}
	dst = append(dst, d.digits...)
	for range d.exponent {
		dst = append(dst, '0')
	}
	return dst
}
