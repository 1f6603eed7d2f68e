package app

import (
	"strings"

	"onejob/audit"
	"onejob/dashboard"
)

// newPages makes the operators' pages of this process.
func (a *App) newPages() *dashboard.Pages {
	return dashboard.New(dashboard.Config{
		Audit:   audit.New(a.rdb),
		Keys:    a.keys,
		Log:     a.log,
		Monitor: a.redis,
		Redis:   a.rdb,
		Secure:  strings.HasPrefix(a.cfg.Server.PublicURL, "https://"),
		Watch:   a.store,
	})
}

// mountPages serves them beside the API.
func (a *App) mountPages() {
	a.pages = a.newPages()
	a.api.Mount(dashboard.Root, a.pages)
	a.api.Mount(dashboard.MonitorRoot, a.pages.Monitor())
}
