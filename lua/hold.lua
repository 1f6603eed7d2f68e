-- include: record
-- hold notes that an operator holds back a starting attempt by archiving its
-- wake-up (design §4). The claim takes the note off.
--
-- ARGV 5 attempt  6 why
--
-- Answers held | not_starting | not_found | no_attempt.

local n, why = tonumber(ARGV[5]), one_line(ARGV[6])

if not load_job() then return reply('not_found') end
local a = load_attempt(n)
if not a then return reply('no_attempt') end
if a.state ~= 'starting' then return reply('not_starting', a.state) end
if job.hold == why then return reply('held') end

set('hold', why)
event('hold', n, 'starting', 'starting', why)
commit()
return reply('held')
