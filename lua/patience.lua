-- patience is asked by every sweep (design §4). When the latest sweep of anybody
-- is longer ago than gap, the store was away and so were everybody's beats: for one
-- lease nobody is suspected. All sweepers share one answer, so that one that has
-- just started, or slept, needs no patience of its own.
--
-- KEYS 1 sweep  hash {swept, patient}: the latest sweep, and until when to wait
-- ARGV 1 gap, ms  2 lease, ms
--
-- Answers the ms in which nobody may be suspected yet.

local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
local function text(number) return string.format('%.0f', number) end

local known = redis.call('HMGET', KEYS[1], 'swept', 'patient')
local swept, patient = tonumber(known[1] or nil), tonumber(known[2] or nil) or 0
if not swept or now - swept > tonumber(ARGV[1]) then patient = now + tonumber(ARGV[2]) end
redis.call('HSET', KEYS[1], 'swept', text(now), 'patient', text(patient))
return text(math.max(0, patient - now))
