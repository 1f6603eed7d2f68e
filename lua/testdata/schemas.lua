-- In place of schemas.lua with the build tag schema2: a release after this one, whose
-- records have other names for what decides, and one field more.
local NAMES = {
  {},
  { state = 'status', completed_by = 'winner', hold = 'held_back', revision = 'writes', result = 'output',
    ['.state'] = '.status', ['.not_before'] = '.opens', ['.lease'] = '.good_until', ['.handle'] = '.ref',
    ['.wakes'] = '.woken' },
}
local OPENING = { {}, { 'v', '2', 'origin', 'submit' } }
