-- include: record
-- Deliveries: what a job's webhook is told of, and when (docs/webhooks.md).
--
-- Delivery h is kept beside the attempts, as their row h<h>: event, at, state
-- (pending, delivered, exhausted or disabled), tries, next, lease, token, code,
-- delivered; and field h<h>.error. While it is pending it has an entry in the due set
-- and one in the partition's set `webhooks`, both named webhook:<job>:h<h>.

-- hooks is the set of deliveries that are pending.
local function hooks() return PREFIX .. 'webhooks' end

local function set_hook(h, field, value) set_attempt('h' .. h, field, value) end

-- open_hook makes a delivery pending: its next try is due at a time.
local function open_hook(h, at)
  set_hook(h, 'state', 'pending')
  set_hook(h, 'next', at)
  set_hook(h, 'wakes', 0)
  redis.call('ZADD', DUE, text(at), due_name('webhook', 'h' .. h))
  redis.call('ZADD', hooks(), text(now), due_name('webhook', 'h' .. h))
end

-- announce records, in the script that changes the state, that the webhook is to be
-- told: no delivery is ever lost between the two. A job with a webhook counts its
-- deliveries in hooks. A receiver that has said 410 is
-- told no more of this job.
local function announce(state)
  if not job.hooks or not (is_ended(state) or state == 'unknown') then return end
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
