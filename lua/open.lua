-- include: next
-- open starts the next attempt because a person asks (design §2): the job is not
-- final and nobody is open beneath it (I4).
--
-- ARGV 5 expected version; empty: any  6 provider; empty: the latest attempt's
--      7 reason  8 margin, ms: refuse when the record expires sooner than that
--
-- Answers opened (opened) | job_final | version_mismatch | attempt_open |
-- expiring | not_found.

local expected, provider, margin = tonumber(ARGV[5]), given(ARGV[6]), tonumber(ARGV[8]) or 0

if not load_job() then return reply('not_found') end
local answer, detail = recall()
if answer then return reply(answer, '', detail) end

if expected and expected ~= job.version then return reply('version_mismatch') end
if is_final(job.state) then return reply('job_final') end
if job.expires and tonumber(job.expires) - now < margin then return reply('expiring') end
local in_the_way = first_open()
if in_the_way then return refuse_attempt('attempt_open', in_the_way) end

-- Who opens a job now does not mind when it should have been started.
if job.start_by then unset('start_by') end
local n = text(add_attempt(provider or job.provider, 0, ARGV[7]))
remember('opened', n)
commit()
return reply('opened', '', n)
