-- include: start
-- expire_start ends a job that nobody started in the time it was given, though
-- no worker may ever come to claim it.
--
-- ARGV 5 attempt
--
-- Answers start_expired | not_starting (detail: the attempt's state) | too_early |
-- not_found | no_attempt.

local n = tonumber(ARGV[5])

if not load_job() then return reply('not_found') end
local a = load_attempt(n)
if not a then return reply('no_attempt') end
if a.state ~= 'starting' then return reply('not_starting', a.state) end
if not past_start() then return reply('too_early') end
return expire_start(n, 'expire_start')
