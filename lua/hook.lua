-- include: record
-- Deliveries: what a job's webhook is told of, and when (docs/webhooks.md).
--
-- Delivery h is kept beside the attempts, as their row h<h>: event, at, state
-- (pending, delivered, exhausted or disabled), tries, next, lease, token, code,
-- delivered; and field h<h>.error. While it is pending it has an entry in the due set
-- and one in the partition's set `webhooks`, both named webhook:<job>:h<h>.

local HOOKS = PREFIX .. 'webhooks'
local ANNOUNCED = { succeeded = true, failed = true, cancelled = true, unknown = true }

local function set_hook(h, field, value) set_attempt('h' .. h, field, value) end

-- load_hook reads one delivery; nil when there is none with that number.
local function load_hook(h)
  local row = rows['h' .. h]
  if not row then return nil end
  return { number = h, event = row.event, state = row.state, tries = tonumber(row.tries) or 0,
    lease = tonumber(row.lease) or 0, token = row.token, next = tonumber(row.next) or 0 }
end

-- open_hook makes a delivery pending: its next try is due at a time.
local function open_hook(h, at)
  set_hook(h, 'state', 'pending')
  set_hook(h, 'next', at)
  set_hook(h, 'wakes', 0)
  redis.call('ZADD', DUE, text(at), due_name('webhook', 'h' .. h))
  redis.call('ZADD', HOOKS, text(now), due_name('webhook', 'h' .. h))
end

-- close_hook ends a delivery: delivered, exhausted or disabled.
local function close_hook(h, state)
  set_hook(h, 'state', state)
  redis.call('ZREM', DUE, due_name('webhook', 'h' .. h))
  redis.call('ZREM', HOOKS, due_name('webhook', 'h' .. h))
end

-- announce records, in the script that changes the state, that the webhook is to be
-- told: no delivery is ever lost between the two. A job with a webhook counts its
-- deliveries in hooks. A receiver that has said 410 is
-- told no more of this job.
local function announce(state)
  if not job.hooks or not ANNOUNCED[state] then return end
  local h = text(tonumber(job.hooks) + 1)
  set('hooks', h)
  set_hook(h, 'event', 'job.' .. state)
  set_hook(h, 'at', now)
  set_hook(h, 'tries', 0)
  if job.hooks_off then
    set_hook(h, 'state', 'disabled')
  else
    open_hook(h, now)
  end
end

-- tell writes the line of the trail about a try.
local function tell(verb, d, to, said) event(verb, nil, d.state, to, 'h' .. d.number .. ' ' .. d.event .. said) end
