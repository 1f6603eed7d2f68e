package providers

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// CheckURL refuses what cannot be called: only absolute http and https URLs are.
// The error never quotes the URL, which may hold a password.
func CheckURL(setting, address string) error {
	if address == "" {
		return fmt.Errorf("%s is missing", setting)
	}
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("%s is no URL", setting)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%s must be an absolute http or https URL", setting)
	}
	return nil
}

// ErrNoHandle is returned by Expand when the template needs a handle and none is
// known.
var ErrNoHandle = errors.New("no handle of the attempt is known")

// Expand replaces {attempt} and {handle} in a URL, path-escaped.
func Expand(template string, ref Ref) (string, error) {
	if strings.Contains(template, "{handle}") && ref.Handle == "" {
		return "", ErrNoHandle
	}
	return strings.NewReplacer(
		"{attempt}", url.PathEscape(ref.AttemptID),
		"{handle}", url.PathEscape(ref.Handle),
	).Replace(template), nil
}

// NamesAttempt tells whether a URL template says which attempt is meant.
func NamesAttempt(template string) bool {
	return strings.Contains(template, "{attempt}") || strings.Contains(template, "{handle}")
}

// secretsOfURL lists the password and the query values of a URL.
func secretsOfURL(address string) []string {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	var secrets []string
	if password, ok := u.User.Password(); ok {
		secrets = append(secrets, password)
	}
	for _, values := range u.Query() {
		for _, value := range values {
			if len(value) >= 8 && !NamesAttempt(value) {
				secrets = append(secrets, value)
			}
		}
	}
	return secrets
}
