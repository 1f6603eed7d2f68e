// The list of jobs: ticking all, and telling how many are ticked. While some are, the
// list stands still (app.js), so that nothing moves under the pointer.
(function () {
  'use strict'
  function ticks() { return Array.from(document.querySelectorAll('#bulk input[name="id"]')) }
  function tell() {
    var all = document.querySelector('[data-tick-all]')
    var chosen = document.getElementById('chosen')
    if (!all || !chosen) return
    var boxes = ticks()
    var n = boxes.filter(function (box) { return box.checked }).length
    all.hidden = false
    all.checked = n > 0 && n === boxes.length
    all.indeterminate = n > 0 && n < boxes.length
    chosen.textContent = n === 0 ? 'Tick jobs to change several at once.'
      : n + (n === 1 ? ' job' : ' jobs') + ' ticked; the list stands still meanwhile.'
  }
  document.addEventListener('change', function (e) {
    if (e.target.matches('[data-tick-all]')) ticks().forEach(function (box) { box.checked = e.target.checked })
    if (e.target.closest('#bulk')) tell()
  })
  document.addEventListener('htmx:afterSwap', tell)
  // A browser that comes back shows the ticks of before.
  window.addEventListener('pageshow', tell)
  tell()
})()
