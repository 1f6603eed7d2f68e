package dashboard

import "net/http"

// Front is what a person finds who types the address of the API into a browser, to be
// mounted at /: the way to the pages. Whoever asks for no page is told that there is
// nothing, as before.
type Front struct{}

// Serve answers one request, or returns a Refusal and answers nothing.
func (Front) Serve(w http.ResponseWriter, r *http.Request) error {
	if !wantsPage(r) {
		return refuse("not-found", "Nothing is served at this address.")
	}
	http.Redirect(w, r, Root, http.StatusSeeOther)
	return nil
}
