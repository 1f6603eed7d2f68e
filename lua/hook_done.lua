-- include: delivery
-- hook_done records what came of a try and plans the next one: the schedule of
-- Standard Webhooks. A try that would come after the record's expiry is made
-- shortly before it instead: the record is not kept longer for its webhook.
--
-- ARGV 5 delivery  6 token
--      7 outcome: delivered, failed, or gone (410: this receiver wants no more)
--      8 status; empty: there was no answer  9 what went wrong
--     10 retry_after, ms: not before that  11 slow: 1 when the receiver is overloaded
--
-- Answers delivered | pending (detail: ms to the next try) | exhausted | disabled |
-- not_pending (detail: its state) | not_taken (another has the turn) | not_found |
-- no_webhook.

-- ms from the end of one try to the next.
local WAITS = { 0, 5000, 300000, 1800000, 7200000, 18000000, 36000000, 50400000, 72000000, 86400000 }
local LAST_CALL = math.min(60000, KEEP_JOB / 10) -- ms before the record's expiry

local h, token, outcome, status, why = ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local retry_after, slow = tonumber(ARGV[10]) or 0, ARGV[11] == '1'

if not load_job() then return reply('not_found') end
local d = load_hook(h)
if not d then return reply('no_webhook') end
if d.state ~= 'pending' then return reply('not_pending', d.state) end
-- That it was received is true, whoever has the turn by now.
if d.token ~= token and outcome ~= 'delivered' then return reply('not_taken') end

-- next_try is the time of the next one; nil: there is none.
local function next_try()
  local wait = WAITS[d.tries + 1]
  if not wait then return nil end
  if slow then wait = wait * 2 end
  local at = now + wait
  local last = job.expires and math.floor(tonumber(job.expires) - LAST_CALL)
  if last and at > last then at = last end
  at = math.max(at, now + retry_after)
  if last and (at > last or last <= now) then return nil end
  return at
end

-- disable ends every delivery of this job that waits.
local function disable()
  set('hooks_off', 1)
  for other = 1, tonumber(job.hooks) do
    if other ~= tonumber(h) and load_hook(other).state == 'pending' then close_hook(other, 'disabled') end
  end
end

local to, wait = outcome, ''
if outcome == 'gone' then
  to = 'disabled'
  disable()
elseif outcome == 'failed' then
  local at = next_try()
  to = at and 'pending' or 'exhausted'
  if at then
    open_hook(h, at)
    wait = text(at - now)
  end
end
if to ~= 'pending' then close_hook(h, to) end
if to == 'delivered' then set_hook(h, 'delivered', now) end
set_hook(h, 'code', status)
set_hook(h, 'error', why)
set_hook(h, 'token', '')
set_hook(h, 'lease', 0)
tell('webhook', d, to, ' try ' .. text(d.tries) .. ': ' .. (given(why) or status))
commit(true)
return reply(to, wait)
