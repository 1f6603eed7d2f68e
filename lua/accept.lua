-- include: record
-- accept stores the provider's handle of an attempt, whatever its state, before
-- anything else happens (design §2): even of a cancelled call a handle is worth
-- having, to ask for it later.
--
-- ARGV 5 attempt  6 token  7 handle
--
-- Answers accepted | revoked (the token is not the claim's) | not_found | no_attempt.

local n, token, handle = tonumber(ARGV[5]), ARGV[6], ARGV[7]

if not load_job() then return reply('not_found') end
local a = load_attempt(n)
if not a then return reply('no_attempt') end
if a.token ~= token then return reply('revoked', a.state) end
if redis.call('HGET', JOB, stored(n .. '.handle')) == handle then return reply('accepted') end

set_attempt(n, 'handle', handle)
event('accept', n, a.state, a.state)
commit()
return reply('accepted')
