-- include: next
-- race opens an attempt at the next provider beside a silent one, on a route
-- without effects (design §6). Both hold the same fence; the first valid
-- finisher wins.
--
-- ARGV 5 the silent attempt, which must be the last one
--      6 policy of the route, JSON (see next.lua)
--
-- Answers opened (opened) | not_racing (detail: why) | attempt_open | not_found.

local silent, policy = tonumber(ARGV[5]), cjson.decode(ARGV[6])

if not load_job() then return reply('not_found') end
local answer, detail = recall()
if answer then return reply(answer, '', detail) end

if is_ended(job.state) or silent ~= job.attempts or states[silent] ~= 'unknown' then
  return reply('not_racing', 'moved_on')
end
for n = 1, job.attempts do
  if states[n] == 'starting' or states[n] == 'running' then return refuse_attempt('attempt_open', n) end
end
if count_attempts() >= policy.max_attempts then return reply('not_racing', 'attempts_spent') end
local provider, certificate = provider_after(policy, silent)
if not provider then
  return reply('not_racing', certificate and 'failover_not_certified' or 'providers_spent')
end

forget('race', silent)
local n = text(add_attempt(provider, 0, 'race:' .. certificate, certificate))
remember('opened', n)
commit()
return reply('opened', '', n)
