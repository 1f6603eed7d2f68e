package dashboard

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"onejob/dashboard/payload"
	"onejob/dashboard/timeline"
)

//go:embed templates/*.html
var templateFiles embed.FS

// templates are the pages by name, each with the layout and the parts they share.
// What a template prints is escaped for where it stands (html/template); nothing
// here marks a text as safe.
var templates = parseTemplates()

// shared are the templates every page can use; the other files are pages.
var shared = []string{"templates/layout.html", "templates/parts.html", "templates/jobparts.html"}

func parseTemplates() map[string]*template.Template {
	base := template.Must(template.New("layout").Funcs(functions).ParseFS(templateFiles, shared...))
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		panic(err) // the pattern is malformed
	}
	pages := map[string]*template.Template{}
	for _, file := range files {
		own := template.Must(template.Must(base.Clone()).ParseFS(templateFiles, file))
		pages[strings.TrimSuffix(path.Base(file), ".html")] = own
	}
	return pages
}

// page is what the layout shows around a page's own Data.
type page struct {
	Title string
	// Nav is the entry of the navigation the page belongs to.
	Nav string
	// Live says what makes the page fetch itself again: "changed" (a job) or "beat"
	// (every few seconds). Empty: it stands still.
	Live string
	Data any

	// Filled in by show.
	Path      string
	SignedIn  bool
	Operator  bool
	Who, Role string
	CSRF      string
	Said      string
	Version   string
	Items     []navItem
	Now       time.Time
	Ends      time.Time // of the session
}

// navItem is a link of the navigation.
type navItem struct {
	Name, Href string
	Outside    bool // asynqmon's
	Current    bool
}

// navigation are the links every page has, in their order.
var navigation = []navItem{
	{Name: "Unknown", Href: Root + "/unknown"},
	{Name: "Jobs", Href: Root + "/jobs"},
	{Name: "Providers", Href: Root + "/providers"},
	{Name: "Store", Href: Root + "/store"},
	{Name: "Audit", Href: Root + "/audit"},
	{Name: "Queues", Href: MonitorRoot, Outside: true},
}

// page shows a page with status 200.
func (v *visit) page(name string, p page) error {
	v.show(http.StatusOK, name, p)
	return nil
}

// show answers with the template of that name. An error of the template itself is
// a mistake of ours: it is logged, and nothing half is sent.
func (v *visit) show(status int, name string, p page) {
	v.fill(&p)
	var out bytes.Buffer
	if err := templates[name].ExecuteTemplate(&out, "layout", p); err != nil {
		v.cfg.Log.Error("a template failed", "page", name, "error", err)
		http.Error(v.w, "The page could not be made. The log says why.", http.StatusInternalServerError)
		return
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	_, _ = v.w.Write(out.Bytes()) // the browser went away
}

func (v *visit) fill(p *page) {
	p.Path, p.Version, p.Now = v.r.URL.RequestURI(), v.cfg.Version, time.Now()
	if v.session == nil {
		p.Live = ""
		return
	}
	p.SignedIn, p.Operator = true, v.who.MayOperate()
	p.Who, p.Role, p.CSRF, p.Ends = v.who.Owner, string(v.who.Role), v.session.csrf(), v.session.ends
	for _, item := range navigation {
		if item.Outside && v.full == nil {
			continue
		}
		item.Current = item.Name == p.Nav
		p.Items = append(p.Items, item)
	}
	if v.r.Header.Get(headerLive) == "" {
		ctx, cancel := v.ctx()
		defer cancel()
		var err error
		if p.Said, err = v.sessions.said(ctx, v.session.token); err != nil {
			v.cfg.Log.Warn("a page does not say what was done", "error", err)
		}
	}
}

// functions are what templates can call besides their data's methods.
var functions = template.FuncMap{
	"asset":   assetURL,
	"when":    when,
	"bytes":   byteSize,
	"bytes64": func(n int) string { return byteSize(int64(n)) },
	"millis":  milliseconds,
	"dict":    dict,
	"jobOf":   jobOf,
	"state":   stateBadge,
	"line":    payload.Line,
	"words":   timeline.Words,
	"long":    longTime,
}

// moment is a time as the part "time" shows it.
type moment struct {
	At       time.Time
	Relative string
}

func when(at time.Time) moment {
	if at.IsZero() {
		return moment{}
	}
	return moment{At: at.UTC(), Relative: relative(time.Until(at))}
}

// Stamp is the time for machines, RFC 3339 in UTC with milliseconds.
func (m moment) Stamp() string { return m.At.Format("2006-01-02T15:04:05.000Z07:00") }

// Full is the time for people who want it exactly.
func (m moment) Full() string { return m.At.Format("2006-01-02 15:04:05 UTC") }

// relative is a distance from now in words; app.js says it in the same ones.
func relative(d time.Duration) string {
	words := distance(d.Abs())
	switch {
	case d.Abs() < 5*time.Second:
		return "just now"
	case d > 0:
		return "in " + words
	}
	return words + " ago"
}

func distance(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// longTime is how long something has gone on, without "ago".
func longTime(since time.Time) string {
	return timeline.Took(max(0, time.Since(since).Truncate(time.Second)))
}

// byteSize is n bytes in binary units.
func byteSize(n int64) string {
	size, unit := float64(n), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if size < 1024 {
			break
		}
		size, unit = size/1024, next
	}
	if unit == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", size, unit)
}

// milliseconds is a short duration for a table.
func milliseconds(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "< 1 ms"
	case d < 10*time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return distance(d)
}

// dict gives a part more than one value: dict "name" value …
func dict(pairs ...any) (map[string]any, error) {
	values := make(map[string]any, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: %v is not a name", pairs[i])
		}
		values[name] = pairs[i+1]
	}
	return values, nil
}
