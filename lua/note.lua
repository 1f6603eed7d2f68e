-- include: record
-- note adds a line to the trail of an attempt and changes nothing else.
--
-- ARGV 5 attempt  6 verb  7 reason
--
-- Answers noted | not_found | no_attempt.

local n = tonumber(ARGV[5])

if not load_job() then return reply('not_found') end
if not states[n] then return reply('no_attempt') end
local answer = recall()
if answer then return reply(answer) end
event(ARGV[6], n, states[n], states[n], ARGV[7])
remember('noted')
commit()
return reply('noted')
