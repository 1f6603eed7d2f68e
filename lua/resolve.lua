-- include: outcome, next
-- resolve is a person's decision about an open attempt (design §2). succeeded
-- and failed are for unknown attempts; cancelled, which is also "cancel
-- attempt", for any open one. It opens nothing by itself unless then is
-- `continue`. Guards I2, I5, I9.
--
-- ARGV 5 attempt  6 outcome: succeeded, failed or cancelled
--      7 expected version; empty: any  8 reason
--      9 result  10 its SHA-256  11 its size
--     12 then: `continue` or empty  13 policy of the route, JSON (see next.lua)
--
-- Answers won | resolved (opened) | late | version_mismatch | attempt_terminal |
-- not_unknown | not_found | no_attempt.

local n, outcome, expected, reason = tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7]), ARGV[8]

if not load_job() then return reply('not_found') end
local a = load_attempt(n)
if not a then return reply('no_attempt') end

local answer, detail = recall()
if answer == 'resolved' then return reply(answer, '', detail) end
if answer then return reply(answer, detail) end

if expected and expected ~= job.version then return reply('version_mismatch') end
if not is_open(a.state) then return refuse_attempt('attempt_terminal', n) end
if outcome ~= 'cancelled' and a.state ~= 'unknown' then return refuse_attempt('not_unknown', n) end

if outcome == 'succeeded' then
  if not entitled(a) then return late(a, ARGV[10], ARGV[11]) end
  set_attempt(n, 'effect', 'done')
  return win(a, 'resolve', ARGV[9], ARGV[10], reason)
end

-- What may still come of the call must find the door shut. Where another
-- attempt races on, its fence stays good and this one is shut out by its state.
if not first_open(n) then raise() end
move_attempt(n, outcome)
if outcome == 'cancelled' then call_off(n, a.state) end
set_attempt(n, 'reason', outcome == 'failed' and 'resolved_failed' or 'cancelled')
set_attempt(n, 'error', reason)
event('resolve', n, a.state, outcome, reason)
local opened
if first_open(n) then
  settle()
elseif ARGV[12] == 'continue' then
  opened = follow(cjson.decode(ARGV[13]), n, 'resolved_' .. outcome, reason, true, nil, true)
else
  blame(outcome == 'failed' and 'resolved_failed' or 'attempt_cancelled', reason, n)
  settle()
end
opened = opened and text(opened) or ''
remember('resolved', opened)
commit()
return reply('resolved', '', opened)
