-- include: hook
-- One delivery, for the verbs that are about it.

-- load_hook reads one delivery; nil when there is none with that number.
local function load_hook(h)
  local row = rows['h' .. h]
  if not row then return nil end
  return { number = h, event = row.event, state = row.state, tries = tonumber(row.tries) or 0,
    lease = tonumber(row.lease) or 0, token = row.token, next = tonumber(row.next) or 0 }
end

-- close_hook ends a delivery: delivered, exhausted or disabled.
local function close_hook(h, state)
  set_hook(h, 'state', state)
  redis.call('ZREM', DUE, due_name('webhook', 'h' .. h))
  redis.call('ZREM', hooks(), due_name('webhook', 'h' .. h))
end

-- tell writes the line of the trail about a try.
local function tell(verb, d, to, said) event(verb, nil, d.state, to, 'h' .. d.number .. ' ' .. d.event .. said) end
