-- include: record
-- look notes what a look-up said that settled nothing (design §5): absent proves
-- nothing, an outage changes nothing, running means wait.
--
-- ARGV 5 attempt  6 what it said
--
-- Answers noted | not_unknown | not_found | no_attempt.

local n, said = tonumber(ARGV[5]), one_line(ARGV[6])

if not load_job() then return reply('not_found') end
local a = load_attempt(n)
if not a then return reply('no_attempt') end
local answer = recall()
if answer then return reply(answer) end
if a.state ~= 'unknown' then
  forget('lookup', n)
  return reply('noted', a.state)
end

-- The trail gets a line when the answer changes, not one for every look.
if rows[n].lookup ~= said then event('look', n, 'unknown', 'unknown', said) end
set_attempt(n, 'lookup', said)
set_attempt(n, 'looked_at', now)
remember('noted')
commit()
return reply('noted')
