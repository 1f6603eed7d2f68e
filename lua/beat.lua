-- include: record
-- beat extends the lease of a running attempt (design §2, §4). It changes no
-- state, so it leaves no event and does not raise the revision.
--
-- ARGV 5 attempt  6 token  7 lease, ms  8 sent_ago: ms since the call left, if it did
--
-- Answers beating | revoked (detail: the attempt's state) | not_found | no_attempt.

local n, token = tonumber(ARGV[5]), ARGV[6]

if not load_job() then return reply('not_found') end
local a = load_attempt(n)
if not a then return reply('no_attempt') end

-- Past its deadline a hung call must not beat for ever (I10).
if a.state ~= 'running' or a.token ~= token or now > a.deadline then return reply('revoked', a.state) end

local lease = now + tonumber(ARGV[7])
set_attempt(n, 'lease', lease)
if given(ARGV[8]) and not a.sent then set_attempt(n, 'sent', now - tonumber(ARGV[8])) end
save()
remind('lease', n, math.min(lease, a.deadline))
return reply('beating')
