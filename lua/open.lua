-- include: next
-- open starts attempt n+1 (design §2): the job is not final and nobody is open
-- beneath it (I4), or, racing, everybody open is unknown (§6).
--
-- ARGV 5 expected version; empty: any  6 provider; empty: the latest attempt's
--      7 reason  8 person: 1 when a person asks, else max_attempts holds
--      9 max_attempts
--     10 race: number of the silent attempt it races, the last one; else empty
--
-- Answers opened (opened) | job_final | version_mismatch | attempt_open |
-- attempts_spent | not_racing | not_found.

local expected, provider, race = tonumber(ARGV[5]), given(ARGV[6]), tonumber(ARGV[10])

if not load_job() then return reply('not_found') end
local answer, detail = recall()
if answer then return reply(answer, '', detail) end

if is_final(job.state) then return reply('job_final') end
if expected and expected ~= job.version then return reply('version_mismatch') end

local in_the_way = first_open()
if race then
  if race ~= job.attempts or not in_the_way then return reply('not_racing') end
  for n = 1, job.attempts do
    if states[n] == 'starting' or states[n] == 'running' then return refuse_attempt('attempt_open', n) end
  end
elseif in_the_way then
  return refuse_attempt('attempt_open', in_the_way)
end
if ARGV[8] ~= '1' and count_attempts() >= tonumber(ARGV[9]) then return reply('attempts_spent') end

local n = text(add_attempt(provider or job.provider, 0, ARGV[7]))
remember('opened', n)
commit()
return reply('opened', '', n)
