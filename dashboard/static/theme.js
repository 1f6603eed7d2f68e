// Runs before the page is drawn, so that it never flashes in the other colours.
(function () {
  'use strict'
  var theme = null
  try { theme = localStorage.getItem('onejob-theme') } catch (e) { /* storage is off */ }
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
})()
