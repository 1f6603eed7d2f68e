// What the pages do by themselves: words for times, the theme, live updates, and
// asking before what cannot be undone. Without it they work, and stand still.
(function () {
  'use strict'
  var root = document.documentElement

  // Times: the server's words (render.go), kept true while the page stands open.
  function distance(s) {
    if (s < 60) return Math.floor(s) + ' s'
    if (s < 3600) return Math.floor(s / 60) + ' min'
    if (s < 172800) return Math.floor(s / 3600) + ' h'
    return Math.floor(s / 86400) + ' days'
  }
  function relative(ms) {
    var s = Math.abs(ms) / 1000
    if (s < 5) return 'just now'
    return ms > 0 ? 'in ' + distance(s) : distance(s) + ' ago'
  }
  function tellTimes() {
    document.querySelectorAll('time[datetime]').forEach(function (t) {
      var words = relative(Date.parse(t.dateTime) - Date.now())
      if (t.textContent !== words) t.textContent = words
    })
  }
  setInterval(tellTimes, 5000)

  // Theme: auto follows the system.
  var themes = ['auto', 'light', 'dark']
  var themeButton = document.getElementById('theme-toggle')
  function theme() { return root.dataset.theme || 'auto' }
  function showTheme() { document.getElementById('theme-word').textContent = theme() }
  if (themeButton) {
    themeButton.hidden = false
    showTheme()
    themeButton.addEventListener('click', function () {
      var next = themes[(themes.indexOf(theme()) + 1) % themes.length]
      if (next === 'auto') delete root.dataset.theme
      else root.dataset.theme = next
      try { localStorage.setItem('onejob-theme', next) } catch (e) { /* for this page, then */ }
      showTheme()
    })
  }

  // Live: a page fetches its parts marked data-live again when it is told to. It does
  // not while the person has stopped it, writes in a form, or has something open there.
  var paused = false
  try { paused = sessionStorage.getItem('onejob-live') === 'paused' } catch (e) { /* live, then */ }
  var missed = false
  var liveButton = document.getElementById('live-toggle')
  function busy(part) {
    var active = document.activeElement
    if (active && part.contains(active) && active.matches('input:not([type="checkbox"]), textarea, select')) return true
    return part.querySelector('details[open]:not([data-keep]), dialog[open], input:checked:not([data-calm])') !== null
  }
  function showLive() {
    if (!liveButton) return
    liveButton.setAttribute('aria-pressed', paused ? 'false' : 'true')
    document.getElementById('live-word').textContent = paused
      ? (missed ? 'Paused, there is news' : 'Paused')
      : (root.dataset.stream === 'broken' ? 'Not live' : 'Live')
  }
  if (liveButton) {
    liveButton.hidden = false
    showLive()
    liveButton.addEventListener('click', function () {
      paused = !paused
      try { sessionStorage.setItem('onejob-live', paused ? 'paused' : 'live') } catch (e) { /* for this page, then */ }
      if (!paused && missed) {
        missed = false
        document.querySelectorAll('[data-live]').forEach(function (part) { htmx.trigger(part, 'refresh') })
      }
      showLive()
    })
  }
  document.addEventListener('htmx:beforeRequest', function (e) {
    var part = e.detail.elt
    if (!part.hasAttribute('data-live')) return
    if (paused || busy(part)) {
      e.preventDefault()
      missed = true
      showLive()
    }
  })
  // What is open to be read stays open.
  var open = []
  document.addEventListener('htmx:beforeSwap', function () {
    open = Array.from(document.querySelectorAll('details[data-keep][open]'), function (d) { return d.id })
  })
  document.addEventListener('htmx:afterSwap', function () {
    open.forEach(function (id) {
      var details = document.getElementById(id)
      if (details) details.open = true
    })
    tellTimes()
  })
  document.addEventListener('htmx:sseClose', function (e) {
    if (e.detail.type === 'message') location.reload() // the session is over: to the login
  })
  document.addEventListener('htmx:sseOpen', function () { root.dataset.stream = 'open'; showLive() })
  document.addEventListener('htmx:sseError', function () { root.dataset.stream = 'broken'; showLive() })

  // An open menu closes with Escape, and when the focus leaves it.
  document.addEventListener('keydown', function (e) {
    if (e.key !== 'Escape') return
    document.querySelectorAll('details.menu[open]').forEach(function (menu) {
      menu.open = false
      menu.querySelector('summary').focus()
    })
  })
  document.addEventListener('click', function (e) {
    document.querySelectorAll('details.menu[open]').forEach(function (menu) {
      if (!menu.contains(e.target)) menu.open = false
    })
  })
})()
