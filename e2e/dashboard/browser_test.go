package dashboard

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// chromium is the one browser of all tests; each has a profile of its own in it.
var chromium struct {
	once   sync.Once
	ctx    context.Context
	cancel context.CancelFunc
	err    error
}

// needsBrowser skips the test where there is no Chromium, or fails it where
// ONEJOB_REQUIRE_CHROMIUM asks for one.
func needsBrowser(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		if os.Getenv("ONEJOB_REQUIRE_CHROMIUM") != "" {
			require.NoError(t, err)
		}
		t.Skip("chromium is not on the PATH")
	}
}

func startBrowser() {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.WSURLReadTimeout(time.Minute),
	)
	ctx, cancelBrowser := chromedp.NewExecAllocator(context.Background(), options...)
	first, cancelFirst := chromedp.NewContext(ctx)
	chromium.cancel = func() { cancelFirst(); cancelBrowser() }
	chromium.err = chromedp.Do(first)
	chromium.ctx = first //nolint:fatcontext // the one browser lives as long as the tests
}

func endBrowser() {
	if chromium.cancel != nil {
		chromium.cancel()
	}
}

// page is one tab of a browser of its own: no cookies of anybody else.
type page struct {
	t    *testing.T
	ctx  context.Context
	base string
	said *complaints
}

// pageTime bounds what one test does in the browser.
const pageTime = 2 * time.Minute

// A screen a page is looked at on.
type screen struct {
	name          string
	width, height int64
	dark, phone   bool
}

var (
	desk      = screen{name: "desk", width: 1280, height: 900}
	deskDark  = screen{name: "desk-dark", width: 1280, height: 900, dark: true}
	phone     = screen{name: "phone", width: 390, height: 844, phone: true}
	phoneDark = screen{name: "phone-dark", width: 390, height: 844, phone: true, dark: true}
)

func open(t *testing.T, base string, s screen) *page {
	t.Helper()
	needsBrowser(t)
	chromium.once.Do(startBrowser)
	require.NoError(t, chromium.err, "starting Chromium")
	ctx, cancel := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	ctx, end := context.WithTimeout(ctx, pageTime)
	t.Cleanup(end)
	p := &page{t: t, ctx: ctx, base: base}
	said, err := listen(ctx)
	require.NoError(t, err, "listening to the console")
	p.said = said
	p.on(s)
	return p
}

// complaints are what a page complains about: a policy that blocks a script, an
// exception, an asset that is not there.
type complaints struct {
	mu   sync.Mutex
	said []string
}

func (c *complaints) add(said string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = append(c.said, said)
}

// listen keeps the complaints of a tab until its context ends.
func listen(ctx context.Context) (*complaints, error) {
	if err := chromedp.Do(ctx); err != nil { // opens the tab
		return nil, err
	}
	c := &complaints{}
	messages := chromedp.Console(ctx)
	go func() {
		for message, err := range messages {
			if err != nil {
				return
			}
			if message.Type == chromedp.ConsoleError || message.IsException() {
				c.add(message.Text + " " + message.URL)
			}
		}
	}()
	return c, nil
}

// quiet: the browser has had nothing to complain about.
func (p *page) quiet() {
	p.t.Helper()
	p.said.mu.Lock()
	defer p.said.mu.Unlock()
	require.Empty(p.t, p.said.said, "errors on the console")
}

// on changes the screen.
func (p *page) on(s screen) {
	p.t.Helper()
	scheme := "light"
	if s.dark {
		scheme = "dark"
	}
	p.run(
		chromedp.EmulateViewport(s.width, s.height),
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			})
			return err
		}),
	)
}

// step is something done in the browser.
type step = chromedp.Action[chromedp.Void]

func click(selector string) step       { return chromedp.Click(chromedp.CSS(selector)) }
func see(selector string) step         { return chromedp.WaitVisible(chromedp.CSS(selector)) }
func write(selector, text string) step { return chromedp.SendKeys(chromedp.CSS(selector), text) }

func (p *page) run(actions ...step) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, actions...), "in the browser, at %s", p.at())
}

func (p *page) at() string {
	ctx, cancel := context.WithTimeout(p.ctx, time.Second)
	defer cancel()
	at, _ := chromedp.Run(ctx, chromedp.Location())
	return at
}

func (p *page) visit(path string) {
	p.t.Helper()
	p.run(chromedp.Navigate(p.base+path), see("main"))
}

// signIn does it as a person would: asked for a page, he types a key.
func (p *page) signIn(key string) {
	p.t.Helper()
	p.visit("/dashboard")
	p.run(write("#key", key), click("#login"), see("#nav"))
}

// text is what can be read of an element.
func (p *page) text(selector string) string {
	p.t.Helper()
	text, err := chromedp.Run(p.ctx, chromedp.Text(chromedp.CSS(selector), chromedp.NodeVisible))
	require.NoError(p.t, err, "reading %s", selector)
	return text
}

// eval runs JavaScript that gives a value.
func eval[T any](p *page, script string) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](script))
	require.NoError(p.t, err, script)
	return value
}

// eventually waits until JavaScript says true. When a page makes way for another
// meanwhile, as after a form, the wait begins again there; and what is missing because
// the page is not all there yet is waited for.
func (p *page) eventually(script, what string) {
	p.t.Helper()
	whole := `(() => { try { return ` + script + ` } catch { return false } })()`
	poll := chromedp.Poll[chromedp.Void](whole, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(30*time.Second))
	err := chromedp.Do(p.ctx, poll)
	for began := time.Now(); gone(err) && time.Since(began) < 30*time.Second; {
		err = chromedp.Do(p.ctx, poll)
	}
	require.NoError(p.t, err, what)
}

// gone tells whether the page that was asked is no longer there.
func gone(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "Cannot find context") || strings.Contains(err.Error(), "context was destroyed"))
}

// screenshots is where pictures of the pages are kept, for people to look at.
const screenshots = "screenshots"

func (p *page) picture(name string) {
	p.t.Helper()
	png, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	require.NoError(p.t, err, "taking a picture")
	require.NoError(p.t, os.MkdirAll(screenshots, 0o750))
	file := filepath.Join(screenshots, strings.ReplaceAll(name, "/", "-")+".png")
	require.NoError(p.t, os.WriteFile(file, png, 0o600))
}

// axe is the accessibility checker from npm.
func axe(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("../node/node_modules/axe-core/axe.min.js")
	if err != nil && os.Getenv("ONEJOB_REQUIRE_NODE") == "" {
		t.Skip("axe-core is not installed: npm ci in e2e/node")
	}
	require.NoError(t, err)
	return string(source)
}

// violation is a rule of accessibility that a page breaks.
type violation struct {
	ID     string `json:"id"`
	Impact string `json:"impact"`
	Help   string `json:"help"`
	Nodes  []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

func (v violation) String() string {
	text := fmt.Sprintf("%s (%s): %s", v.ID, v.Impact, v.Help)
	for _, node := range v.Nodes {
		text += "\n    " + node.HTML + "\n    " + node.Summary
	}
	return text
}

// accessible: axe finds nothing.
func (p *page) accessible(source, what string) {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void](source))
	found, err := chromedp.Run(p.ctx, chromedp.Evaluate[[]violation](`axe.run().then(r => r.violations)`, chromedp.EvalAwaitPromise))
	require.NoError(p.t, err, "running axe")
	for _, v := range found {
		p.t.Errorf("%s: %s", what, v)
	}
}
