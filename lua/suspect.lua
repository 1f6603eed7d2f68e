-- include: settle
-- suspect makes a running attempt unknown: silence is not failure (design §2).
-- Guards I4, I10.
--
-- ARGV 5 attempt  6 token; empty: because its lease or deadline has passed
--      7 reason; empty with an empty token: told from what has passed
--      8 evidence  9 effect  10 sent_ago, ms
--     11 lookup_in  12 settle_in  13 race_in, ms: reminders that start now
--
-- Answers suspected | not_running (detail: the attempt's state) | not_lapsed |
-- not_found | no_attempt.

local n, token = tonumber(ARGV[5]), given(ARGV[6])

if not load_job() then return reply('not_found') end
local a = load_attempt(n)
if not a then return reply('no_attempt') end

local answer = recall()
if answer then return reply(answer) end
if a.state ~= 'running' then
  forget('lease', n) -- should one have been left: nobody else would
  return reply('not_running', a.state)
end

-- A hung call is beaten up to its deadline; a lease that ended before that is one
-- that nobody beats any more, however late it is noticed.
local lapsed
if now > a.lease and a.lease < a.deadline then
  lapsed = 'worker_lost'
elseif now > a.deadline then
  lapsed = 'deadline'
end
if not lapsed and (not token or a.token ~= token) then return reply('not_lapsed') end

local reason = given(ARGV[7]) or lapsed
move_attempt(n, 'unknown')
set_attempt(n, 'reason', reason)
set_attempt(n, 'unknown_at', now)
set_attempt_given(n, 'evidence', ARGV[8])
set_attempt(n, 'effect', given(ARGV[9]) or 'unknown')
if given(ARGV[10]) then set_attempt(n, 'sent', now - tonumber(ARGV[10])) end
forget('lease', n)
for i, kind in ipairs({ 'lookup', 'settle', 'race' }) do
  local wait = given(ARGV[10 + i])
  if wait then
    remind(kind, n, now + tonumber(wait))
    if kind == 'lookup' then set_attempt(n, 'lookup_at', now + tonumber(wait)) end
  end
end
event('suspect', n, 'running', 'unknown', reason)
settle()
remember('suspected')
commit()
return reply('suspected')
