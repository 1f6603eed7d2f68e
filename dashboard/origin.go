package dashboard

import (
	"net/http"
	"net/url"
	"strings"
)

// sameOrigin tells whether a write was made by a page of ours, or not by a browser
// at all. A browser sends a key it remembers along with whatever another site makes
// it post. Every browser says where a write comes from: in Sec-Fetch-Site (W3C
// Fetch Metadata), the older ones in Origin (RFC 6454).
func sameOrigin(r *http.Request) bool {
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return false
		}
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || !strings.EqualFold(u.Host, r.Host) {
			return false
		}
	}
	return true
}

// ownPage is sameOrigin with proof: a browser said that the write comes from a page
// of ours. It is asked of writes that rest on a session's cookie and carry no token
// of it, which are asynqmon's.
func ownPage(r *http.Request) bool {
	return sameOrigin(r) && (r.Header.Get("Sec-Fetch-Site") == "same-origin" || r.Header.Get("Origin") != "")
}

// sitePath is where to go after a login: a path of this site, or the first page.
// It begins with the name of our pages, so that no browser can read it as another
// site's address, as //host and /\host would be; and url.Parse refuses control
// characters, which browsers leave out.
func sitePath(next string) string {
	u, err := url.Parse(next)
	ours := under(next, Root) || under(next, MonitorRoot)
	if err != nil || !ours || u.Host != "" || u.Scheme != "" {
		return Root
	}
	return next
}

// under tells whether a path with a query is root or below it.
func under(path, root string) bool {
	rest, ok := strings.CutPrefix(path, root)
	return ok && (rest == "" || rest[0] == '/' || rest[0] == '?')
}

// wantsPage tells whether a browser asks for something to look at, and not a script
// or a page's own call.
func wantsPage(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}
