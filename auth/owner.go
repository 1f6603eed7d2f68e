package auth

import "fmt"

// maxName bounds owners and labels, in bytes.
const maxName = 128

// CheckOwner returns an error that says what is wrong with the name of an
// owner: 1 to 128 visible ASCII characters without blanks. Owners are compared
// byte by byte: Dev and dev are two.
func CheckOwner(owner string) error {
	if owner == "" {
		return fmt.Errorf("the owner is empty; want 1 to %d characters", maxName)
	}
	if len(owner) > maxName {
		return fmt.Errorf("the owner has %d characters; want at most %d", len(owner), maxName)
	}
	for i, r := range owner {
		if r <= ' ' || r > '~' {
			return fmt.Errorf("the owner %q has %q at position %d; want visible ASCII characters without blanks", owner, r, i+1)
		}
	}
	return nil
}

// checkLabel: a label is for people, in any language, on one line.
func checkLabel(label string) error {
	if len(label) > maxName {
		return fmt.Errorf("the label has %d bytes; want at most %d", len(label), maxName)
	}
	for _, r := range label {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			return fmt.Errorf("the label %q has control characters or is not UTF-8; want one line of text", label)
		}
	}
	return nil
}
