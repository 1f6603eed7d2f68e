-- include: outcome, next
-- fail records a definite no (design §2) and, when no other attempt is open,
-- plans what follows in the same script (§6): a further try, the next provider,
-- or the job's failure. Guards I2, I4, I6.
--
-- ARGV 5 attempt  6 fence the caller was given; empty: the attempt's own
--      7 reason   8 message  9 retryable: 1 or 0  10 retry_after, ms
--     11 effect  12 evidence 13 sent_ago, ms
--     14 policy of the route, JSON (see next.lua)
--     15 SHA-256 and 16 size of what was answered, should it be late
--
-- Answers failed (opened: the attempt that follows, if any) | late | not_found |
-- no_attempt.

local n, fence, reason, message = tonumber(ARGV[5]), tonumber(ARGV[6]), one_line(ARGV[7]), ARGV[8]
local policy = cjson.decode(ARGV[14])

if not load_job() then return reply('not_found') end
local a = load_attempt(n)
if not a then return reply('no_attempt') end

local answer, detail = recall()
if answer == 'failed' then return reply(answer, '', detail) end
if answer then return reply(answer, detail) end

-- The same definite no, heard of a second time by another way, is no news.
if a.state == 'failed' and a.reason == reason then return reply('failed') end

observe(a, ARGV[11], ARGV[12], ARGV[13])
if not entitled(a, fence) then return late(a, ARGV[15], ARGV[16]) end

move_attempt(n, 'failed')
set_attempt(n, 'reason', reason)
set_attempt(n, 'error', message)
event('fail', n, a.state, 'failed', reason)
local opened
if first_open(n) then
  settle()
else
  opened = follow(policy, n, reason, message, ARGV[9] == '1', tonumber(ARGV[10]))
end
opened = opened and text(opened) or ''
remember('failed', opened)
commit()
return reply('failed', '', opened)
