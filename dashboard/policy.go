package dashboard

import "net/http"

// contentPolicy lets a page load and talk to nothing but this site, run no script and
// no style written into it, and be put into no frame (W3C CSP 3).
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// guardPage replaces the API's headers with those of a page.
func guardPage(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	// Not no-referrer: under that, browsers send forms with Origin: null.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
}

// guardMonitor lets asynqmon's inline scripts and web fonts load, which contentPolicy
// would not, and keeps the page out of frames, where its buttons could be clicked
// unseen.
func guardMonitor(h http.Header) {
	h.Set("Content-Security-Policy", "frame-ancestors 'none'; base-uri 'self'; object-src 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}
