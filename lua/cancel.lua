-- include: settle
-- cancel ends a job that has not ended (design §2): every open attempt is
-- cancelled, the version rises, and whatever still comes is late. Guards I5, I9.
--
-- ARGV 5 expected version; empty: any  6 reason
--
-- Answers cancelled | job_final (also for a failed job) | version_mismatch |
-- not_found.

local expected, reason = tonumber(ARGV[5]), ARGV[6]

if not load_job() then return reply('not_found') end
local answer = recall()
if answer then return reply(answer) end
if expected and expected ~= job.version then return reply('version_mismatch') end
if is_ended(job.state) then return reply('job_final') end

raise()
event('cancel', nil, job.state, 'cancelled', reason)
settle('cancelled')
remember('cancelled')
commit()
return reply('cancelled')
